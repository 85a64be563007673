// Changes of a choice by a line of the checks: a view around an x, a neighbouring rule as a card.

import { getControls, canAddRule, setParameter, setRange, addRule } from "../../choice/choice.js";
import { roundToUnit } from "../../formula/numbers.js";
import { getDisplayName } from "../../formula/controls.js";
import { formatNumber } from "../../formula/numbers.js";
import { getOwn } from "../../formula/records.js";

/** @import { Choice } from "../../choice/choice.js" */

/** Return the choice with its view moved so that an x is in the middle. @param {Choice} choice @param {number} x */
export function centerView(choice, x) {
  const width = choice.range[1] - choice.range[0];
  const middle = roundToUnit(x, width / 300); // finer digits are invisible
  return setRange(choice, middle - width / 2, middle + width / 2);
}

/** Return whether a rule can be added. @param {Choice} choice @param {string} key */
export function canJoin(choice, key) {
  return canAddRule(choice) && !choice.rules.some((rule) => rule.key === key);
}

/**
 * Add a rule of the catalogue as a card, with fitted parameters.
 *
 * A control that existed before is unchanged, because it belongs to another card too.
 * @param {Choice} choice
 * @param {{rule: string, parameters: Object<string, number>}} neighbour
 */
export function addNeighbour(choice, { rule, parameters }) {
  const before = new Set(getControls(choice).map((control) => control.name));
  const added = addRule(choice, rule);
  const newControls = getControls(added).filter(({ name }) => !before.has(name));
  return newControls.reduce((next, control) => {
    const isQualified = control.name.includes(".");
    const isForRule = !isQualified || control.name.startsWith(`${rule}.`);
    const value = isForRule ? getOwn(parameters, getDisplayName(control.parameter)) : undefined;
    return value === undefined ? next : setParameter(next, control, value);
  }, added);
}

/** Format the range over which rules are compared. @param {[number, number]} range */
export function formatRange(range) {
  return range.map((end) => formatNumber(end).replace("-", "−")).join(" to ");
}
