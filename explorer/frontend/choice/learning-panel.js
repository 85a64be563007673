// Consistency of the parameter with a gradient panel on Explore and the parameters that learn in training.

import { getEntries } from "./choice.js";
import { parseLearning, setLearningByAllRules, setLearning } from "./learning.js";

/** @import { Choice } from "./choice.js" */

/**
 * Toggle the gradient panel of a parameter; without its panel it stops learning in training too.
 * @param {Choice} choice
 * @param {string} name
 * @returns {Choice}
 */
export function togglePanel(choice, name) {
  const cleared = choice.learns ? setLearningByName(choice, choice.learns, false) : choice;
  return { ...cleared, learns: choice.learns === name ? "" : name };
}

/**
 * Return the choice for the training page: a parameter with a panel learns, by all rules unless rules are set.
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
 * Return the choice for Explore: coming from a training, the first learning parameter gets a panel.
 * @param {Choice} choice
 * @param {"nothing"|"link"|"page"} origin how the visitor came here
 * @returns {Choice}
 */
export function prepareExplore(choice, origin) {
  if (origin !== "page" || choice.learns) return choice;
  return { ...choice, learns: getLearningNames(choice)[0] ?? "" };
}

/**
 * Remove the panel of a parameter that stopped learning in training.
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

/** Return the parameters that learn in training by at least one rule. @param {Choice} choice */
function getLearningNames(choice) {
  const learning = getLearning(choice).filter(({ rules }) => rules.some(({ learns }) => learns));
  return learning.map(({ name }) => name);
}

/** Return the parameters that can learn in training. @param {Choice} choice */
function getLearning(choice) {
  const { op, rules } = getEntries(choice);
  return parseLearning(op, rules, choice.training.learn ?? "");
}

/**
 * Set whether a parameter learns in training, by all of its rules.
 * @param {Choice} choice @param {string} name @param {boolean} learns
 */
function setLearningByName(choice, name, learns) {
  return setLearning(choice, setLearningByAllRules(getLearning(choice), name, learns));
}
