// Conversion between the gradient panel of a parameter on Explore and the parameters that learn on the Train page.

import { getEntries } from "./choice.js";
import { parseLearning, setLearningByAllRules, setLearning } from "./learning.js";

/** @import { Choice } from "./choice.js" */

/**
 * Open or close the panel with the gradient of a parameter. A parameter whose panel is closed no longer learns in
 * training.
 * @param {Choice} choice @param {string} name the parameter @returns {Choice}
 */
export function togglePanel(choice, name) {
  const cleared = choice.learns ? setLearningByName(choice, choice.learns, false) : choice;
  return { ...cleared, learns: choice.learns === name ? "" : name };
}

/**
 * Convert settings of Explore for the Train page. The parameter with an open gradient panel learns there.
 * @param {Choice} choice @returns {Choice}
 */
export function prepareTraining(choice) {
  const { learns } = choice;
  return learns && !getLearningNames(choice).includes(learns)
    ? setLearningByName(choice, learns, true)
    : choice;
}

/**
 * Convert settings of the Train page for Explore. The first parameter that learns gets a gradient panel there.
 * @param {Choice} choice
 * @param {"nothing"|"link"|"page"} origin the source of the settings: defaults, a link, or the previous page
 * @returns {Choice}
 */
export function prepareExplore(choice, origin) {
  if (origin !== "page" || choice.learns) return choice;
  return { ...choice, learns: getLearningNames(choice)[0] ?? "" };
}

/**
 * Return settings without the gradient panel of a parameter that has stopped learning in training.
 * @param {Choice} before @param {Choice} after @returns {Choice}
 */
export function dropLostPanel(before, after) {
  const { learns } = before;
  const isLost =
    learns && getLearningNames(before).includes(learns) && !getLearningNames(after).includes(learns);
  return isLost ? { ...after, learns: "" } : after;
}

/** @param {Choice} choice */
function getLearningNames(choice) {
  const learning = getLearning(choice).filter(({ rules }) => rules.some(({ learns }) => learns));
  return learning.map(({ name }) => name);
}

/** @param {Choice} choice */
function getLearning(choice) {
  const { op, rules } = getEntries(choice);
  return parseLearning(op, rules, choice.training.learn ?? "");
}

/**
 * Return settings in which a parameter learns in training by all rules that can train it, or by none.
 * @param {Choice} choice @param {string} name the parameter @param {boolean} learns
 */
function setLearningByName(choice, name, learns) {
  return setLearning(choice, setLearningByAllRules(getLearning(choice), name, learns));
}
