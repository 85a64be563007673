// What to do if the net cannot be trained with some of the rules.

import { explainTrainingRefusal } from "../../choice/entries.js";
import { getEntries, removeRule } from "../../choice/choice.js";
import { joinList } from "../../formula/phrases.js";
import { getSelectedTask, explainUntrained } from "./tasks.js";

/** @import { Choice } from "../../choice/choice.js" */

const ANOTHER = "Choose another rule to train.";
const BRANCH = "Remove the branch (×) to train.";

/** @param {Choice} choice */
function findRefused(choice) {
  const { fires } = getSelectedTask(choice).site;
  const { rules } = getEntries(choice);
  return choice.rules.flatMap(({ slot }, at) =>
    explainTrainingRefusal(rules[at], fires) ? [{ slot, label: rules[at].label }] : [],
  );
}

/** @param {{label: string}[]} refused */
const describeRemoval = (refused) => `Remove ${joinList(refused.map(({ label }) => label))}`;

/** Suggest how the nets could be trained. Returns "" if they can be already. @param {Choice} choice */
export function suggestRemedy(choice) {
  if (!explainUntrained(choice)) return "";
  const refused = findRefused(choice);
  const left = choice.rules.length - refused.length;
  if (!refused.length) return BRANCH;
  return left ? `${describeRemoval(refused)} to train the other${left > 1 ? "s" : ""}.` : ANOTHER;
}

/**
 * Return the label of the button that removes rules which cannot be trained. Returns "" if all or none can be.
 * @param {Choice} choice
 */
export function getRemovalLabel(choice) {
  const refused = findRefused(choice);
  return refused.length && refused.length < choice.rules.length ? describeRemoval(refused) : "";
}

/** Return settings without the rules that the task's net cannot learn with. @param {Choice} choice @returns {Choice} */
export function removeRefused(choice) {
  return findRefused(choice).reduce((left, { slot }) => removeRule(left, slot), choice);
}
