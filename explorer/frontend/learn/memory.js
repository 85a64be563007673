// The memory of lessons, sent nowhere: drawings, picks and revealed answers in this tab, progress in this browser.

import {
  removeFromSession,
  saveInSession,
  loadFromSession,
  loadFromBrowser as recallVisit,
  saveInBrowser as rememberVisit,
} from "../choice/session.js";

/**
 * ``picked`` is the index of an answer; ``drawn`` the cells of a drawing;
 * ``missed`` whether it was checked and not right; ``revealed`` is "checked"
 * after a right prediction, "shown" where the answer was asked for, else null.
 * @typedef {{picked: number|null, drawn: (number|null)[]|null, missed: boolean,
 *   revealed: "checked"|"shown"|null}} State
 */

/** @type {State} */
export const NOTHING = { picked: null, drawn: null, missed: false, revealed: null };

/** @param {string} key of a lesson @returns {State} */
export const recall = (key) => ({ ...NOTHING, ...loadFromSession(nameOf(key)) });

/** @param {string} key @param {State} state */
export const remember = (key, state) => saveInSession(nameOf(key), state);

/** Forget all that this tab remembers of keys that begin so, before a reload too. @param {string} start */
export const forget = (start) => removeFromSession(nameOf(start));

/** @param {string} key */
const nameOf = (key) => `lesson ${key}`;

/** ``learned`` holds keys of lessons, ``seen`` the questions seen of each; ``path`` is a title or "". */
/** @typedef {{learned: string[], seen: Object<string, number[]>, path: string}} Progress */

const NAME = "learned";
const NONE = { learned: [], seen: {}, path: "" };

/** @returns {Progress} */
export const progress = () => ({ ...NONE, ...recallVisit(NAME) });

/** @param {Partial<Progress>} change */
const extend = (change) => rememberVisit(NAME, { ...progress(), ...change });

/** @param {string} path its title, "" for all lessons */
export const follow = (path) => extend({ path });

/** Both fresh questions were answered. @param {string} key of a lesson */
export function learn(key) {
  extend({ learned: [...new Set([...progress().learned, key])] });
}

/**
 * The indices of two questions of a lesson that have not been seen; once there are too few, all are fresh again.
 * @param {string} key of the lesson
 * @param {number} count of its questions
 */
export function twoFresh(key, count) {
  const { seen } = progress();
  const all = Array.from({ length: count }, (_, index) => index);
  const left = all.filter((index) => !seen[key]?.includes(index));
  const before = left.length < 2 ? [] : (seen[key] ?? []);
  const two = (left.length < 2 ? all : left).slice(0, 2);
  extend({ seen: { ...seen, [key]: [...before, ...two] } });
  return two;
}
