// The settings of a study, other than its op, rules and task.

import { getCatalogue } from "../choice/entries.js";
import { fillTemplate } from "../formula/phrases.js";
import { capitalize } from "../formula/numbers.js";
import { enterTraining, getSetting, getSettings, getSelectedTask } from "../train/state/tasks.js";

/** @import { Choice } from "../choice/choice.js" */

const getRatesText = (/** @type {Choice} */ choice) =>
  choice.training.rates ?? getSelectedTask(choice).defaults.rates;

/** Return the learning rates that a study compares. @param {Choice} choice @returns {number[]} */
export function getStudyRates(choice) {
  const text = getRatesText(choice);
  return text ? text.split(",").map(Number) : [];
}

/** Return whether the study includes control rules, which a useful rule must beat. @param {Choice} choice */
export function hasControls(choice) {
  return choice.training.controls !== "no";
}

/**
 * Return whether the study divides learning rates by the gradient size of each rule (equal footing).
 * @param {Choice} choice
 */
export function hasEqualFooting(choice) {
  return choice.training.equal === "yes";
}

/** Return why the optimiser does not allow equal footing, or "" if it does. @param {Choice} choice */
export function explainUnscalable(choice) {
  const { scaled, unscaled } = getCatalogue().limits.study;
  const optimiser = getSetting(choice, "optimiser");
  return scaled.includes(optimiser) ? "" : `${capitalize(fillTemplate(unscaled, { optimiser }))}.`;
}

/**
 * Return the keys of the control rules that are added to the rules of the page.
 * @param {Choice} choice @returns {string[]}
 */
export function getAddedControls(choice) {
  if (!hasControls(choice)) return [];
  return getCatalogue().controls.filter((key) => !choice.rules.some((rule) => rule.key === key));
}

/**
 * Return the declarations of the settings of both studies and training runs. Those that can change during a run are
 * left out.
 */
export function getSharedSettings() {
  return getSettings().filter(({ live }) => !live);
}

/**
 * Return a key that is equal for settings with the same study.
 * @param {Choice} choice @param {import("../train/state/own-table.js").OwnTable} table the user's table
 */
export function toStudyKey(choice, table) {
  const shared = getSharedSettings().map(({ name }) => getSetting(choice, name));
  const rules = choice.rules.map(({ key }) => key);
  const task = getSelectedTask(choice);
  return JSON.stringify([
    task.key,
    choice.op,
    rules,
    choice.parameters,
    getRatesText(choice),
    hasControls(choice),
    hasEqualFooting(choice),
    shared,
    task.kind === "own" ? JSON.stringify(table) : "",
  ]);
}

/**
 * Return settings for the Study page, like ``enterTraining`` for Train. A task is always set, because the default task
 * has no held-out data.
 * @param {Choice} choice
 * @param {"nothing"|"link"|"page"} origin the source of the settings: defaults, a link, or the previous page
 * @returns {Choice}
 */
export function enterStudy(choice, origin) {
  if (choice.training.task || origin === "nothing") return enterTraining(choice, origin);
  const base = enterTraining({ ...choice, training: {} }, "page");
  return { ...base, training: { ...base.training, ...choice.training } };
}
