// The changes of a choice by a line of the checks: a view around an x, a neighbour as a card.

import { choiceControls, canAddRule, withParameter, withRange, withRule } from "../../choice/choice.js";
import { tidied } from "../../formula/numbers.js";
import { shownName } from "../../formula/controls.js";
import { numberText } from "../../formula/numbers.js";
import { held } from "../../formula/records.js";

/** @import { Choice } from "../../choice/choice.js" */

/** The choice with its view moved so that an x lies in the middle. @param {Choice} choice @param {number} x */
export function centred(choice, x) {
  const width = choice.range[1] - choice.range[0];
  const middle = tidied(x, width / 300); // nobody sees more
  return withRange(choice, middle - width / 2, middle + width / 2);
}

/** Whether a rule can be added. @param {Choice} choice @param {string} key */
export function canJoin(choice, key) {
  return canAddRule(choice) && !choice.rules.some((rule) => rule.key === key);
}

/**
 * The choice with a rule of the catalogue as one more card, and its parameters as fitted; a control that
 * was there before stays as it is, for it is another card's too.
 * @param {Choice} choice
 * @param {{rule: string, parameters: Object<string, number>}} neighbour
 */
export function joined(choice, { rule, parameters }) {
  const before = new Set(choiceControls(choice).map((control) => control.name));
  const added = withRule(choice, rule);
  const own = choiceControls(added).filter(({ name }) => !before.has(name));
  return own.reduce((next, control) => {
    const qualified = control.name.includes(".");
    const mine = !qualified || control.name.startsWith(`${rule}.`);
    const value = mine ? held(parameters, shownName(control.parameter)) : undefined;
    return value === undefined ? next : withParameter(next, control, value);
  }, added);
}

/** The range over which rules are compared, in words. @param {[number, number]} range */
export function rangeText(range) {
  return range.map((end) => numberText(end).replace("-", "−")).join(" to ");
}
