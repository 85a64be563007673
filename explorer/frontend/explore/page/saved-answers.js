// Python's answers that a saved file has: those to the questions of the choice it was saved with.

import { keyOf } from "../../asking/ask.js";
import { distanceArguments, rowArguments, suiting } from "../sections/compare.js";
import { mapArguments } from "../sections/map.js";
import { restArguments } from "../sections/resting.js";
import { learningArguments } from "../stage/learning.js";
import { impliedArguments, lensArguments } from "../stage/layer-questions.js";

/** @import { Choice } from "../../choice/choice.js" */
/**
 * A question, what its arguments are made of besides the choice (the key of a rule, or ""), and the answer.
 * @typedef {[string, string, import("../../asking/ask.js").Answer]} SavedAnswer
 */

/** What makes the arguments of a question. @type {Record<string, (choice: Choice, of: string) => import("../../asking/ask.js").Arguments>} */
export const ARGUMENTS = {
  lens: lensArguments,
  implied: impliedArguments,
  pull: learningArguments,
  rest: restArguments,
  map: (choice) => mapArguments(choice),
  distances: distanceArguments,
  row: (choice, key) => rowArguments(choice, { key }),
};

/**
 * Answers that came along with a choice.
 * @param {SavedAnswer[]} saved
 * @param {Choice} choice
 * @param {{elsewhere: string, never: string}} words on a question that has no answer for other values, or none at all
 * @returns {import("../../asking/ask.js").Ask}
 */
export function createSavedAsk(saved, choice, { elsewhere, never }) {
  const answers = new Map(
    saved.map(([question, of, answer]) => [keyOf(question, ARGUMENTS[question](choice, of)), answer]),
  );
  const kinds = new Set(saved.map(([question]) => question));
  const ask = async (/** @type {string} */ question, /** @type {*} */ args) =>
    answers.get(keyOf(question, args)) ?? { message: kinds.has(question) ? elsewhere : never, lacks: true };
  return Object.assign(ask, { has: (/** @type {string} */ question) => question in ARGUMENTS });
}

/** The questions that a choice asks, each with what its arguments are made of. @param {Choice} choice @returns {[string, string][]} */
function questionsOf(choice) {
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
        ? [["distances", ""], ...suiting(choice).map(({ key }) => /** @type {const} */ (["row", key]))]
        : []
    ),
  ];
}

/**
 * The answers to the questions of a choice, as far as there are any.
 * @param {Choice} choice
 * @param {import("../../asking/ask.js").Ask} ask
 * @returns {Promise<SavedAnswer[]>}
 */
export async function collectAnswers(choice, ask) {
  const answers = questionsOf(choice).map(async ([question, of]) => {
    const answer = await ask(question, ARGUMENTS[question](choice, of));
    const isOther = answer.lacks || answer.again || answer.note;
    return isOther ? [] : [/** @type {SavedAnswer} */ ([question, of, answer])];
  });
  return (await Promise.all(answers)).flat();
}
