// The changes of a choice by a line of the checks: a view around an x, a neighbour as a card.

import { getControls, canAddRule, setParameter, setRange, addRule } from "../../choice/choice.js";
import { roundToUnit } from "../../formula/numbers.js";
import { getDisplayName } from "../../formula/controls.js";
import { formatNumber } from "../../formula/numbers.js";
import { getOwn } from "../../formula/records.js";

/** @import { Choice } from "../../choice/choice.js" */

/** The choice with its view moved so that an x lies in the middle. @param {Choice} choice @param {number} x */
export function centred(choice, x) {
  const width = choice.range[1] - choice.range[0];
  const middle = roundToUnit(x, width / 300); // nobody sees more
  return setRange(choice, middle - width / 2, middle + width / 2);
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
  const before = new Set(getControls(choice).map((control) => control.name));
  const added = addRule(choice, rule);
  const own = getControls(added).filter(({ name }) => !before.has(name));
  return own.reduce((next, control) => {
    const qualified = control.name.includes(".");
    const mine = !qualified || control.name.startsWith(`${rule}.`);
    const value = mine ? getOwn(parameters, getDisplayName(control.parameter)) : undefined;
    return value === undefined ? next : setParameter(next, control, value);
  }, added);
}

/** The range over which rules are compared, in words. @param {[number, number]} range */
export function rangeText(range) {
  return range.map((end) => formatNumber(end).replace("-", "−")).join(" to ");
}
