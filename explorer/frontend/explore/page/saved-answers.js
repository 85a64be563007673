// Answers from Python that were stored in a saved file, for the settings with which it was saved.

import { toKey } from "../../asking/ask.js";
import { getDistanceArguments, getRowArguments, listSuitableRules } from "../sections/compare.js";
import { getMapArguments } from "../sections/map.js";
import { getRestArguments } from "../sections/equilibria.js";
import { getLearningArguments } from "../stage/learning.js";
import { getImpliedArguments, getLensArguments } from "../stage/layer-questions.js";

/** @import { Choice } from "../../choice/choice.js" */
/**
 * A question, the further input of its arguments besides the choice (a rule's key, or ""), and the answer.
 * @typedef {[string, string, import("../../asking/ask.js").Answer]} SavedAnswer
 */

/**
 * The functions that make the arguments of each request to Python.
 * @type {Record<string, (choice: Choice, of: string) => import("../../asking/ask.js").Arguments>}
 */
export const ARGUMENTS = {
  lens: getLensArguments,
  implied: getImpliedArguments,
  pull: getLearningArguments,
  rest: getRestArguments,
  map: (choice) => getMapArguments(choice),
  distances: getDistanceArguments,
  row: (choice, key) => getRowArguments(choice, { key }),
};

/**
 * Create a function that answers requests to Python with the answers stored in a saved file.
 * @param {SavedAnswer[]} saved @param {Choice} choice
 * @param {{elsewhere: string, never: string}} words messages for other values of a question and for others
 * @returns {import("../../asking/ask.js").Ask}
 */
export function createSavedAsk(saved, choice, { elsewhere, never }) {
  const answers = new Map(
    saved.map(([question, of, answer]) => [toKey(question, ARGUMENTS[question](choice, of)), answer]),
  );
  const questions = new Set(saved.map(([question]) => question));
  const ask = async (/** @type {string} */ question, /** @type {*} */ args) =>
    answers.get(toKey(question, args)) ?? {
      message: questions.has(question) ? elsewhere : never,
      lacks: true,
    };
  return Object.assign(ask, { has: (/** @type {string} */ question) => question in ARGUMENTS });
}

/**
 * Return the requests to Python that the page's settings need, each with its additional input.
 * @param {Choice} choice @returns {[string, string][]}
 */
function listQuestions(choice) {
  const { layer, section } = choice;
  return [
    .../** @type {[string, string][]} */ (layer ? [[layer, ""]] : []),
    .../** @type {[string, string][]} */ (section === "map" ? [["map", ""]] : []),
    .../** @type {[string, string][]} */ (
      choice.learns
        ? [
            ["pull", ""],
            ["rest", ""],
          ]
        : []
    ),
    .../** @type {[string, string][]} */ (
      section === "compare"
        ? [
            ["distances", ""],
            ...listSuitableRules(choice).map(({ key }) => /** @type {const} */ (["row", key])),
          ]
        : []
    ),
  ];
}

/**
 * Collect Python's answers for the page's current settings, to store them in a file.
 * @param {Choice} choice @param {import("../../asking/ask.js").Ask} ask @returns {Promise<SavedAnswer[]>}
 */
export async function collectAnswers(choice, ask) {
  const answers = listQuestions(choice).map(async ([question, of]) => {
    const answer = await ask(question, ARGUMENTS[question](choice, of));
    const isPartial = answer.lacks || answer.again || answer.note;
    return isPartial ? [] : [/** @type {SavedAnswer} */ ([question, of, answer])];
  });
  return (await Promise.all(answers)).flat();
}
