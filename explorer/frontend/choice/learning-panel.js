// Keeps the gradient panel of Explore consistent with the parameters that are learned in training.

import { getEntries } from "./choice.js";
import { parseLearning, setLearningByAllRules, setLearning } from "./learning.js";

/** @import { Choice } from "./choice.js" */

/**
 * Open or close the gradient panel of a parameter. A parameter whose panel closes no longer learns in training.
 * @param {Choice} choice
 * @param {string} name
 * @returns {Choice}
 */
export function togglePanel(choice, name) {
  const cleared = choice.learns ? setLearningByName(choice, choice.learns, false) : choice;
  return { ...cleared, learns: choice.learns === name ? "" : name };
}

/**
 * Adapt the settings of Explore for the Train page, where the parameter with an open gradient panel learns.
 * @param {Choice} choice
 * @returns {Choice}
 */
export function prepareTraining(choice) {
  const { learns } = choice;
  return learns && !getLearningNames(choice).includes(learns)
    ? setLearningByName(choice, learns, true)
    : choice;
}

/**
 * Adapt the settings of the Train page for Explore, where the first learning parameter gets a gradient panel.
 * @param {Choice} choice
 * @param {"nothing"|"link"|"page"} origin how the visitor came here
 * @returns {Choice}
 */
export function prepareExplore(choice, origin) {
  if (origin !== "page" || choice.learns) return choice;
  return { ...choice, learns: getLearningNames(choice)[0] ?? "" };
}

/**
 * Close the gradient panel of a parameter that no longer learns in training.
 * @param {Choice} before
 * @param {Choice} after
 * @returns {Choice}
 */
export function dropLostPanel(before, after) {
  const { learns } = before;
  const isLost =
    learns && getLearningNames(before).includes(learns) && !getLearningNames(after).includes(learns);
  return isLost ? { ...after, learns: "" } : after;
}

/** Return the parameters that at least one rule learns in training. @param {Choice} choice */
function getLearningNames(choice) {
  const learning = getLearning(choice).filter(({ rules }) => rules.some(({ learns }) => learns));
  return learning.map(({ name }) => name);
}

/** Return the parameters that can be learned in training. @param {Choice} choice */
function getLearning(choice) {
  const { op, rules } = getEntries(choice);
  return parseLearning(op, rules, choice.training.learn ?? "");
}

/**
 * Set whether a parameter is learned in training, by all rules that can train it.
 * @param {Choice} choice @param {string} name @param {boolean} learns
 */
function setLearningByName(choice, name, learns) {
  return setLearning(choice, setLearningByAllRules(getLearning(choice), name, learns));
}
