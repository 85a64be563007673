// What to do about rules of a choice that no net trains. No page.

import { explainTrainingRefusal } from "../../choice/entries.js";
import { getEntries, removeRule } from "../../choice/choice.js";
import { joinList } from "../../formula/phrases.js";
import { taskOf, untrained } from "./tasks.js";

/** @import { Choice } from "../../choice/choice.js" */

const ANOTHER = "Choose another rule to train.";
const BRANCH = "Remove the branch (×) to train.";

/** The rules of a choice that its net does not train. @param {Choice} choice */
function refusedOf(choice) {
  const { fires } = taskOf(choice).site;
  const { rules } = getEntries(choice);
  return choice.rules.flatMap(({ slot }, at) =>
    explainTrainingRefusal(rules[at], fires) ? [{ slot, label: rules[at].label }] : [],
  );
}

/** Their removal in words. @param {{label: string}[]} refused */
const removing = (refused) => `Remove ${joinList(refused.map(({ label }) => label))}`;

/** What to do where a choice cannot be trained; "" where it can. @param {Choice} choice */
export function remedyOf(choice) {
  if (!untrained(choice)) return "";
  const refused = refusedOf(choice);
  const left = choice.rules.length - refused.length;
  if (!refused.length) return BRANCH;
  return left ? `${removing(refused)} to train the other${left > 1 ? "s" : ""}.` : ANOTHER;
}

/** The name of a press that leaves rules which can be trained; "" where none does. @param {Choice} choice */
export function removalOf(choice) {
  const refused = refusedOf(choice);
  return refused.length && refused.length < choice.rules.length ? removing(refused) : "";
}

/** A choice without the rules that its net does not train. @param {Choice} choice @returns {Choice} */
export function withoutRefused(choice) {
  return refusedOf(choice).reduce((left, { slot }) => removeRule(left, slot), choice);
}
