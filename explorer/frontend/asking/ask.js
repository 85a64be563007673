// Questions to Python about a choice. Pages ask them in one way; app, site and saved file differ in who answers.

import { getLinkedParameters } from "../choice/address.js";
import { keepOneRule } from "./some-rules.js";

/** @import { Choice } from "../choice/choice.js" */
/**
 * An answer. With ``message`` there is none: ``again`` says that it may come later, ``busy`` that the server is, and
 * ``lacks`` that nobody here answers the question. ``note`` says to which other values the answer belongs.
 * @typedef {{message?: string, again?: boolean, busy?: boolean, lacks?: boolean, note?: string} & Record<string, *>} Answer
 * @typedef {Record<string, *>} Arguments of a question, as JSON has them
 * @typedef {{onWait?: (words: string) => void, signal?: AbortSignal}} Manner ``onWait`` gets the reason for a wait, and
 *   "" at its end
 * @typedef {((question: string, args: Arguments, manner?: Manner) => Promise<Answer>)
 *   & {has: (question: string) => boolean, prepare?: (question: string) => void}} Ask never rejects; ``has`` says
 *   whether a question is ever answered here, ``prepare`` loads what it takes
 * @typedef {ReturnType<typeof cacheAnswers>} CachedAsk
 */

const MOST_KEPT = 1000;

/** The key of a question: equal for arguments in any order. @param {string} question @param {Arguments} args */
export function keyOf(question, args) {
  return question + JSON.stringify(sorted(args));
}

/** A value of JSON with the names of all objects in order. @param {*} value @returns {*} */
function sorted(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

/** A question on its way, with the reason for the wait and those who are told it. @typedef {{answer: Promise<Answer>, words: string, onWait: Set<(words: string) => void>}} Coming */

/**
 * The same as ``ask``, but each answer is asked for once. ``known`` returns an answer that is there already.
 * @param {Ask} ask
 */
export function cacheAnswers(ask) {
  const kept = /** @type {Map<string, Answer>} */ (new Map());
  const coming = /** @type {Map<string, Coming>} */ (new Map());

  /** @type {(...of: Parameters<Ask>) => Promise<Answer>} */
  async function askOnce(question, args, { onWait } = {}) {
    const key = keyOf(question, args);
    const known = kept.get(key);
    if (known) return known;
    const underWay = coming.get(key) ?? begin(key, question, args);
    if (onWait) underWay.onWait.add(onWait);
    if (underWay.words) onWait?.(underWay.words);
    return underWay.answer;
  }

  /** @param {string} key @param {string} question @param {Arguments} args */
  function begin(key, question, args) {
    const onWait = (/** @type {string} */ words) => {
      underWay.words = words;
      for (const tell of underWay.onWait) tell(words);
    };
    const underWay = /** @type {Coming} */ ({ words: "", onWait: new Set() });
    coming.set(key, underWay);
    underWay.answer = keep(key, ask(question, args, { onWait }));
    return underWay;
  }

  /** @param {string} key @param {Promise<Answer>} promise */
  async function keep(key, promise) {
    const answer = await promise;
    coming.delete(key);
    if (kept.size >= MOST_KEPT) kept.clear();
    if (!answer.again) kept.set(key, answer);
    return answer;
  }

  const known = (/** @type {string} */ question, /** @type {Arguments} */ args) =>
    kept.get(keyOf(question, args));
  return Object.assign(askOnce, { has: ask.has, prepare: ask.prepare, known });
}

/** The arguments of a question about the curves of a choice. @param {Choice} choice */
export function curvesArguments(choice) {
  const { op, rules, range, g, f, learns } = choice;
  const [start, stop] = range;
  const keys = rules.map(({ key }) => key);
  return { op, rules: keys, parameters: getLinkedParameters(choice), start, stop, g, f, learns };
}

/** The arguments of a question about one rule of a choice. @param {Choice} choice @param {number} slot */
export function ruleArguments(choice, slot) {
  const one = keepOneRule(choice, slot);
  return { op: one.op, rule: one.rules[0].key, parameters: getLinkedParameters(one) };
}
