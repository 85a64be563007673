// A choice with some of its rules alone.

import { removeRule } from "../choice/choice.js";
import { getDefaultView } from "../choice/view.js";

/** @import { Choice } from "../choice/choice.js" */

/**
 * The choice with some of its rules alone, and without the parameters of the others.
 * @param {Choice} choice
 * @param {(rule: import("../choice/choice.js").ChosenRule) => boolean} isKept
 */
export function keepRules(choice, isKept) {
  return choice.rules
    .filter((rule) => !isKept(rule))
    .reduce((rest, rule) => removeRule(rest, rule.slot), choice);
}

/**
 * The choice with the rule of a slot alone, and defaults for all that does not concern it.
 * @param {Choice} choice
 * @param {number} slot
 * @returns {Choice}
 */
export function keepOneRule(choice, slot) {
  const one = keepRules(choice, (rule) => rule.slot === slot);
  const rules = one.rules.map(({ key }) => ({ key, slot: 0, hidden: false }));
  return { ...one, rules, ...getDefaultView(), learns: "", slow: "", training: {} };
}
