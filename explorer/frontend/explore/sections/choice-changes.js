// Changes of the settings that a statement about a rule offers: centre the chart on its x, or add a similar rule.

import { getControls, canAddRule, setParameter, setRange, addRule } from "../../choice/choice.js";
import { roundToUnit } from "../../formula/numbers.js";
import { getDisplayName } from "../../formula/controls.js";
import { getOwn } from "../../formula/records.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * Return settings whose visible range has x in its centre, as wide as before.
 * @param {Choice} choice @param {number} x
 */
export function centerView(choice, x) {
  const width = choice.range[1] - choice.range[0];
  const middle = roundToUnit(x, width / 300); // finer differences would be invisible
  return setRange(choice, middle - width / 2, middle + width / 2);
}

/**
 * Return whether a catalogue rule can be added to the chart: there is room, and it is not there yet.
 * @param {Choice} choice @param {string} key
 */
export function canAddCatalogueRule(choice, key) {
  return canAddRule(choice) && !choice.rules.some((rule) => rule.key === key);
}

/**
 * Return settings with a catalogue rule added, with fitted parameters. A control that exists already keeps its value,
 * because it belongs to another card too.
 * @param {Choice} choice @param {{rule: string, parameters: Object<string, number>}} neighbour ``rule``: its key
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
