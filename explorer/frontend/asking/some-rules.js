// Copies of a page's settings with fewer of its backward rules.

import { removeRule } from "../choice/choice.js";
import { getDefaultView } from "../choice/view.js";

/** @import { Choice } from "../choice/choice.js" */

/**
 * Return a copy of the settings with only some backward rules and their parameters, but at least one.
 * @param {Choice} choice
 * @param {(rule: import("../choice/choice.js").ChosenRule) => boolean} isKept returns whether a rule stays
 */
export function keepRules(choice, isKept) {
  return choice.rules
    .filter((rule) => !isKept(rule))
    .reduce((rest, rule) => removeRule(rest, rule.slot), choice);
}

/**
 * Return a copy of the settings with one rule, and defaults for everything that does not affect it.
 * @param {Choice} choice @param {number} slot the rule's slot @returns {Choice}
 */
export function keepOneRule(choice, slot) {
  const single = keepRules(choice, (rule) => rule.slot === slot);
  const rules = single.rules.map(({ key }) => ({ key, slot: 0, hidden: false }));
  return { ...single, rules, ...getDefaultView(), learns: "", slow: "", training: {} };
}
