// Questions to Python on a static site. Stored answers cover ops and rules with default parameters; Python in a web
// worker answers questions that need no torch; all others need the app.

import { isCustom } from "../choice/entries.js";
import { getDefaultView } from "../choice/view.js";
import { formatNumber, writeMinus } from "../formula/numbers.js";
import { joinList } from "../formula/phrases.js";
import { toKey } from "./ask.js";
import { loadStoredCurves } from "./stored-curves.js";
import { loadFile } from "./files.js";

/** @import { Answer, Ask } from "./ask.js" */

const BY_RULE = ["implied", "map", "pull", "rest", "sizes"]; // questions whose answers are stored rule by rule
// questions that explorer/site/stored_answers.py has answered
const STORED = ["distances", "checks", "neighbours", "row", "code", "formulas"];
const PYTHON_QUESTIONS = ["entry", "formulas", "code", "read", "judge"];
const COMPUTED_TEXT = "Computed in the browser";
const UNLOADED_TEXT = "Torch's values could not be loaded: computed in the browser";
const FAILED_ANSWER = { message: "The page's data could not be loaded: reload the page.", again: true };
const APP_TEXT = "This site has no server to answer this: use the app.";
const DEFAULTS_TEXT = "This site has the answer for default settings only. For others, use the app.";

/**
 * Create the function that answers questions to Python on a static site.
 * @param {import("./python.js").Python|null} python the interpreter, or null if the site has none
 * @param {{lessons: string[], unknown: Answer}} course ``lessons``: keys of the lessons; ``unknown``: the answer for
 *   any other key
 * @returns {Ask}
 */
export function createSiteAsk(python, { lessons, unknown }) {
  const isForPython = (/** @type {string} */ question) =>
    python !== null && PYTHON_QUESTIONS.includes(question);

  /** @type {(...of: Parameters<Ask>) => Promise<Answer>} */
  async function ask(question, args, { onWait } = {}) {
    if (question === "lesson")
      return lessons.includes(args.key)
        ? loadFile(`lessons/${args.key}.js`).catch(() => FAILED_ANSWER)
        : unknown;
    if (question === "curves") return answerCurves(args);
    if (question === "lens") return answerLens(args).catch(() => FAILED_ANSWER);
    if (BY_RULE.includes(question)) return answerByRule(question, args).catch(() => FAILED_ANSWER);
    if (STORED.includes(question)) {
      const stored = await findStoredAnswer(question, args).catch(() => FAILED_ANSWER);
      if (stored) return stored;
    }
    if (python && isForPython(question)) {
      const column = question === "entry" ? { column: 0 } : {};
      return python
        .ask(question, args, onWait)
        .catch(({ message }) => ({ message: `${message}.`, ...column }));
    }
    const nearest = await findDefaultAnswer(question, args).catch(() => null);
    return nearest ?? { message: APP_TEXT, lacks: true };
  }

  const has = (/** @type {string} */ question) =>
    ["curves", "lesson", "lens", ...BY_RULE, ...STORED].includes(question) || isForPython(question);
  const prepare = (/** @type {string} */ question) => void python?.prepare(question).catch(() => undefined);
  return Object.assign(ask, { has, prepare });
}

/**
 * Answer with stored curves that torch has computed. Resolves to a message if there are none.
 * @param {Record<string, *>} args @returns {Promise<Answer>}
 */
async function answerCurves(args) {
  const answer = await loadStoredCurves(args, (name) => loadFile(`torch/${name}.js`)).catch(
    () => FAILED_ANSWER,
  );
  if (answer && "message" in answer) return { message: UNLOADED_TEXT, lacks: true };
  return answer ?? { message: COMPUTED_TEXT, lacks: true };
}

/**
 * Answer with the stored slope of the op's mean under noise and a sentence about each rule. Resolves to a message
 * unless the settings are those for which they are stored.
 * @param {Record<string, *>} args @returns {Promise<Answer>}
 */
async function answerLens({ op, rules, parameters, noise, width, start, stop, g }) {
  const { lens } = isCustom(op) ? { lens: null } : await loadAnswers(op);
  const { range, g: defaultG } = getDefaultView();
  const isDefault =
    start === range[0] && stop === range[1] && g === defaultG && !Object.keys(parameters).length;
  const isStored = lens && isDefault && noise === lens.noise && width === lens.width;
  if (!isStored || !rules.every((/** @type {string} */ key) => key in lens.rules))
    return { message: DEFAULTS_TEXT, lacks: true };
  const sentences = new Set(rules.map((/** @type {string} */ key) => lens.rules[key]));
  return { ...lens, words: [lens.words, ...sentences].filter(Boolean).join(" ") };
}

/**
 * Answer a question about several rules by merging stored answers. Resolves to a message if one is missing.
 * @param {string} question @param {Record<string, *>} args @returns {Promise<Answer>}
 */
async function answerByRule(question, args) {
  const answers = await Promise.all(
    args.rules.map((/** @type {string} */ key) => findStoredAnswer(question, { ...args, rules: [key] })),
  );
  const [first] = answers;
  if (answers.includes(null)) return { message: DEFAULTS_TEXT, lacks: true };
  return { ...first, rules: Object.assign({}, ...answers.map(({ rules }) => rules)) };
}

/** @param {string} question @param {Record<string, *>} args */
async function findStoredAnswer(question, args) {
  if (isCustom(args.op)) return null;
  const { pieces, answers } = await loadAnswers(args.op);
  const numbers = answers.get(toKey(question, args));
  return numbers ? JSON.parse(numbers.map((/** @type {number} */ number) => pieces[number]).join("")) : null;
}

/**
 * Resolve to the stored answer for default arguments, or null. Its ``note`` names the arguments with other values.
 * @param {string} question @param {Record<string, *>} args
 */
async function findDefaultAnswer(question, { start, stop, ...args }) {
  const [low, high] = getDefaultView().range;
  const range = start === undefined ? {} : { start: low, stop: high };
  const answer = await findStoredAnswer(question, { ...args, ...range, parameters: {} });
  const format = (/** @type {number} */ value) => writeMinus(formatNumber(value));
  const changes = Object.entries(args.parameters).map(
    ([name, value]) => `${name.split(".").pop()} = ${format(value)}`,
  );
  if (start !== undefined && (start !== low || stop !== high))
    changes.push(`the range ${format(start)} to ${format(stop)}`);
  return answer && { ...answer, note: `At the defaults. For ${joinList(changes)} the app checks this.` };
}

/** @type {Map<string, Promise<{pieces: string[], answers: Map<string, number[]>, lens: *}>>} */
const files = new Map();

/** @param {string} op the op's key */
function loadAnswers(op) {
  const promise =
    files.get(op) ??
    loadFile(`answers/${op}.js`).then(({ pieces, answers, lens }) => {
      const keyed = answers.map((/** @type {[string, *, number[]]} */ [question, args, numbers]) => [
        toKey(question, args),
        numbers,
      ]);
      return { pieces, answers: new Map(keyed), lens };
    });
  files.set(op, promise);
  promise.catch(() => files.delete(op));
  return promise;
}
