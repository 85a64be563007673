// Questions to Python: a name and arguments, sent alike by all pages. The app, the static site, saved files and
// notebooks each provide a function that answers them.

import { getLinkedParameters } from "../choice/address.js";
import { keepOneRule } from "./some-rules.js";

/** @import { Choice } from "../choice/choice.js" */
/**
 * Python's answer to a question. ``message``: why there is none; ``again``: whether another attempt may succeed;
 * ``busy``: whether the server is overloaded; ``lacks``: whether this page can never answer it; ``note``: the values
 * for which the answer holds.
 * @typedef {{message?: string, again?: boolean, busy?: boolean, lacks?: boolean, note?: string} & Record<string, *>}
 *   Answer
 * @typedef {Record<string, *>} Arguments arguments of a question, serialisable as JSON
 * @typedef {{onWait?: (words: string) => void, signal?: AbortSignal}} Manner ``onWait``: called with the reason for a
 *   wait, and with "" when it ends; ``signal``: cancels the question
 * @typedef {((question: string, args: Arguments, manner?: Manner) => Promise<Answer>) & {has: (question: string) =>
 *   boolean, prepare?: (question: string) => void}} Ask sends a question; its promise never rejects; ``has``: whether
 *   this page can answer a question; ``prepare``: loads the necessary files
 * @typedef {ReturnType<typeof cacheAnswers>} CachedAsk as ``Ask``, with a cache
 */

const MAX_CACHED = 1000;

/**
 * Return a cache key for a question. The order of its arguments does not matter.
 * @param {string} question @param {Arguments} args
 */
export function toKey(question, args) {
  return question + JSON.stringify(sortNames(args));
}

/** @param {*} value @returns {*} */
function sortNames(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sortNames(value[name])]),
  );
}

/**
 * A question without an answer yet. ``words``: the reason for the wait, passed to each ``onWait``.
 * @typedef {{answer: Promise<Answer>, words: string, onWait: Set<(words: string) => void>}} Pending
 */

/**
 * Return a function that asks like ``ask`` and caches the answers. Its method ``known`` returns one, or undefined.
 * @param {Ask} ask
 */
export function cacheAnswers(ask) {
  const cache = /** @type {Map<string, Answer>} */ (new Map());
  const pending = /** @type {Map<string, Pending>} */ (new Map());

  /**
   * Resolve to the answer to a question: a cached or pending one, or one from Python.
   * @type {(...of: Parameters<Ask>) => Promise<Answer>}
   */
  async function askOnce(question, args, { onWait } = {}) {
    const key = toKey(question, args);
    const cached = cache.get(key);
    if (cached) return cached;
    const entry = pending.get(key) ?? begin(key, question, args);
    if (onWait) entry.onWait.add(onWait);
    if (entry.words) onWait?.(entry.words);
    return entry.answer;
  }

  /** @param {string} key @param {string} question @param {Arguments} args */
  function begin(key, question, args) {
    const onWait = (/** @type {string} */ words) => {
      entry.words = words;
      for (const tell of entry.onWait) tell(words);
    };
    const entry = /** @type {Pending} */ ({ words: "", onWait: new Set() });
    pending.set(key, entry);
    entry.answer = keep(key, ask(question, args, { onWait }));
    return entry;
  }

  /**
   * Cache an answer when it arrives, unless another attempt may give a better one. Resolves to it.
   * @param {string} key @param {Promise<Answer>} promise
   */
  async function keep(key, promise) {
    const answer = await promise;
    pending.delete(key);
    if (cache.size >= MAX_CACHED) cache.clear();
    if (!answer.again) cache.set(key, answer);
    return answer;
  }

  const getCached = (/** @type {string} */ question, /** @type {Arguments} */ args) =>
    cache.get(toKey(question, args));
  return Object.assign(askOnce, { has: ask.has, prepare: ask.prepare, known: getCached });
}

/** Return the arguments of the question "curves" for the settings of a page. @param {Choice} choice */
export function getCurvesArguments(choice) {
  const { op, rules, range, g, f, learns } = choice;
  const [start, stop] = range;
  const keys = rules.map(({ key }) => key);
  return { op, rules: keys, parameters: getLinkedParameters(choice), start, stop, g, f, learns };
}

/**
 * Return the arguments of a question about one backward rule of a page.
 * @param {Choice} choice @param {number} slot the rule's slot
 */
export function getRuleArguments(choice, slot) {
  const single = keepOneRule(choice, slot);
  return { op: single.op, rule: single.rules[0].key, parameters: getLinkedParameters(single) };
}
