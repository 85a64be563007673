// Remedies for rules of a choice that its net cannot train.

import { explainTrainingRefusal } from "../../choice/entries.js";
import { getEntries, removeRule } from "../../choice/choice.js";
import { joinList } from "../../formula/phrases.js";
import { taskOf, explainUntrained } from "./tasks.js";

/** @import { Choice } from "../../choice/choice.js" */

const ANOTHER = "Choose another rule to train.";
const BRANCH = "Remove the branch (×) to train.";

/** Return the rules of a choice that its net cannot train. @param {Choice} choice */
function findRefused(choice) {
  const { fires } = taskOf(choice).site;
  const { rules } = getEntries(choice);
  return choice.rules.flatMap(({ slot }, at) =>
    explainTrainingRefusal(rules[at], fires) ? [{ slot, label: rules[at].label }] : [],
  );
}

/** Describe the removal of rules. @param {{label: string}[]} refused */
const describeRemoval = (refused) => `Remove ${joinList(refused.map(({ label }) => label))}`;

/** Return what to do about a choice that cannot be trained, or "" if it can. @param {Choice} choice */
export function remedyOf(choice) {
  if (!explainUntrained(choice)) return "";
  const refused = findRefused(choice);
  const left = choice.rules.length - refused.length;
  if (!refused.length) return BRANCH;
  return left ? `${describeRemoval(refused)} to train the other${left > 1 ? "s" : ""}.` : ANOTHER;
}

/**
 * Return the label of a button that removes the rules that cannot be trained; "" if no rule or every rule is one.
 * @param {Choice} choice
 */
export function removalOf(choice) {
  const refused = findRefused(choice);
  return refused.length && refused.length < choice.rules.length ? describeRemoval(refused) : "";
}

/** Remove the rules that the choice's net cannot train. @param {Choice} choice @returns {Choice} */
export function removeRefused(choice) {
  return findRefused(choice).reduce((left, { slot }) => removeRule(left, slot), choice);
}
