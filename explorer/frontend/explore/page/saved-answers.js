// Python's answers in a file saved from Explore. They are valid for the settings with which it was saved.

import { toKey } from "../../asking/ask.js";
import { getDistanceArguments, getRowArguments, listSuitableRules } from "../sections/compare.js";
import { getMapArguments } from "../sections/map.js";
import { getEquilibriaArguments } from "../sections/equilibria.js";
import { getLearningArguments } from "../stage/learning.js";
import { getImpliedArguments, getLensArguments } from "../stage/layer-questions.js";

/** @import { Choice } from "../../choice/choice.js" */
/**
 * A stored answer of Python: the question, the key of the rule in question ("" for none), and the answer.
 * @typedef {[string, string, import("../../asking/ask.js").Answer]} SavedAnswer
 */

/**
 * Functions by question. Each makes the arguments of the question from the settings and the key of a rule.
 * @type {Record<string, (choice: Choice, of: string) => import("../../asking/ask.js").Arguments>}
 */
export const ARGUMENTS = {
  lens: getLensArguments,
  implied: getImpliedArguments,
  pull: getLearningArguments,
  rest: getEquilibriaArguments,
  map: (choice) => getMapArguments(choice),
  distances: getDistanceArguments,
  row: (choice, key) => getRowArguments(choice, { key }),
};

/**
 * Create a function that answers questions to Python from a saved file.
 * @param {SavedAnswer[]} saved @param {Choice} choice the settings of the file
 * @param {{elsewhere: string, never: string}} words messages: ``elsewhere`` for a stored question with other arguments,
 *   ``never`` for all other questions
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
 * List the questions that a file saved with these settings has to answer, each with the key of a rule or "".
 * @param {Choice} choice @returns {[string, string][]}
 */
function listQuestions(choice) {
  const { layer, section, learns } = choice;
  const isCompared = section === "compare";
  const asked = [
    layer,
    section === "map" && "map",
    learns && "pull",
    learns && "rest",
    isCompared && "distances",
  ];
  const questions = asked.filter(Boolean).map((question) => [question, ""]);
  const rows = isCompared ? listSuitableRules(choice).map(({ key }) => ["row", key]) : [];
  return /** @type {[string, string][]} */ ([...questions, ...rows]);
}

/**
 * Ask Python every question that a file saved with these settings has to answer. Partial answers are left out.
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
