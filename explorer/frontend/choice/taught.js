// The parameter that learns on Explore and those that learn in training, changed together.

import { entriesOf } from "./choice.js";
import { learningOf, withAll, withTraining } from "./learning.js";

/** @import { Choice } from "./choice.js" */

/**
 * With a parameter whose gradient has a panel, or with none where it is that one. What has lost its panel no
 * longer learns in training; what has one does from the page of trainings on (see ``taught``).
 * @param {Choice} choice
 * @param {string} name
 * @returns {Choice}
 */
export function withLearning(choice, name) {
  const trained = choice.learns ? withTrained(choice, choice.learns, false) : choice;
  return { ...trained, learns: choice.learns === name ? "" : name };
}

/**
 * A choice that is brought to be trained: its parameter with a panel learns, by every rule that it can learn
 * by, unless somebody has said by which.
 * @param {Choice} choice
 * @returns {Choice}
 */
export function taught(choice) {
  const { learns } = choice;
  return learns && !trainedNames(choice).includes(learns) ? withTrained(choice, learns, true) : choice;
}

/**
 * The choice with which Explore is entered: of a training that was left for it the first that learns has a panel.
 * @param {Choice} choice
 * @param {"nothing"|"link"|"page"} by what brought the visitor here
 * @returns {Choice}
 */
export function explored(choice, by) {
  if (by !== "page" || choice.learns) return choice;
  return { ...choice, learns: trainedNames(choice)[0] ?? "" };
}

/**
 * A choice after a change of its training: what learned before it and does not now has no panel.
 * @param {Choice} before
 * @param {Choice} after
 * @returns {Choice}
 */
export function withoutLost(before, after) {
  const { learns } = before;
  const isLost = learns && trainedNames(before).includes(learns) && !trainedNames(after).includes(learns);
  return isLost ? { ...after, learns: "" } : after;
}

/** The parameters that learn in training by one of the rules. @param {Choice} choice */
function trainedNames(choice) {
  const learning = trainedOf(choice).filter(({ rules }) => rules.some(({ learns }) => learns));
  return learning.map(({ name }) => name);
}

/** @param {Choice} choice */
function trainedOf(choice) {
  const { op, rules } = entriesOf(choice);
  return learningOf(op, rules, choice.training.learn ?? "");
}

/** @param {Choice} choice @param {string} name @param {boolean} learns by every rule that it can, or by none */
function withTrained(choice, name, learns) {
  return withTraining(choice, withAll(trainedOf(choice), name, learns));
}
