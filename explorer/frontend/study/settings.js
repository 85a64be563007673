// The settings of a study, beside op, rules and task. No page.

import { catalogue } from "../choice/entries.js";
import { filled } from "../formula/phrases.js";
import { capitalised } from "../formula/numbers.js";
import { entered, settingText, settings, taskOf, tasks, withSetting } from "../train/state/tasks.js";
import { listOf, listText } from "./lists.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Bounds } from "./lists.js" */

/** @param {Choice} choice the rates to try, as a link writes them */
function ratesText(choice) {
  return choice.training.rates ?? taskOf(choice).defaults.rates;
}

/** @param {Choice} choice @returns {number[]} */
export function ratesOf(choice) {
  return listOf(ratesText(choice));
}

/** @param {Choice} choice @param {number[]} rates */
export function withRates(choice, rates) {
  return withSetting(choice, "rates", listText(rates));
}

/** The bounds of a list of rates. @returns {Bounds} */
export function rateBounds() {
  const { low, high, rates } = catalogue().limits.study;
  return { what: "rate", low, high, most: rates, example: "0.003, 0.01, 0.03" };
}

/** Whether the controls stand beside the rules. @param {Choice} choice */
export function hasControls(choice) {
  return choice.training.controls !== "no";
}

/** @param {Choice} choice @param {boolean} has */
export function withControls(choice, has) {
  const { controls: _, ...others } = choice.training;
  return { ...choice, training: has ? others : { ...others, controls: "no" } };
}

/** Whether each rule's rates are divided by its share. @param {Choice} choice */
export function isEqual(choice) {
  return choice.training.equal === "yes";
}

/** @param {Choice} choice @param {boolean} is */
export function withEqual(choice, is) {
  const { equal: _, ...others } = choice.training;
  return { ...choice, training: is ? { ...others, equal: "yes" } : others };
}

/** Why rates cannot be divided by shares, "" where they can. @param {Choice} choice */
export function unequal(choice) {
  const { scaled, unscaled } = catalogue().limits.study;
  const optimiser = settingText(choice, "optimiser");
  return scaled.includes(optimiser) ? "" : `${capitalised(filled(unscaled, { optimiser }))}.`;
}

/** The keys of the controls that are added to the rules. @param {Choice} choice @returns {string[]} */
export function addedControls(choice) {
  if (!hasControls(choice)) return [];
  return catalogue().controls.filter((key) => !choice.rules.some((rule) => rule.key === key));
}

/** The settings of a run that a study has too: not the rate, nor what only says how a run is watched. */
export function sharedSettings() {
  return settings().filter(({ live }) => !live);
}

/** The tasks that can be judged, and so be studied. */
export function judgedTasks() {
  return tasks().filter(({ metric, kind }) => metric !== null || kind === "own");
}

/**
 * The key of a study: another text is another study. ``table`` is the visitor's own.
 * @param {Choice} choice
 * @param {import("../train/state/own-table.js").OwnTable} table
 */
export function studyKey(choice, table) {
  const shared = sharedSettings().map(({ name }) => settingText(choice, name));
  const rules = choice.rules.map(({ key }) => key);
  const task = taskOf(choice);
  return JSON.stringify([
    task.key,
    choice.op,
    rules,
    choice.parameters,
    ratesText(choice),
    hasControls(choice),
    isEqual(choice),
    shared,
    task.kind === "own" ? JSON.stringify(table) : "",
  ]);
}

/**
 * The choice with which the page is entered: as that of trainings, but what names no task is studied on the
 * first one, for the usual one cannot be judged.
 * @param {Choice} choice
 * @param {"nothing"|"link"|"page"} by what brought the visitor here
 * @returns {Choice}
 */
export function enteredStudy(choice, by) {
  if (choice.training.task || by === "nothing") return entered(choice, by);
  const begun = entered({ ...choice, training: {} }, "page");
  return { ...begun, training: { ...begun.training, ...choice.training } };
}
