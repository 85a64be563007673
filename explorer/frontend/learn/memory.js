// Storage of predictions in the tab and of progress in the browser. Nothing of it is ever sent.

import {
  removeFromSession,
  saveInSession,
  loadFromSession,
  loadFromBrowser as recallVisit,
  saveInBrowser as rememberVisit,
} from "../choice/session.js";

/**
 * ``picked`` is the index of an answer, ``drawn`` holds the cells of a drawing, and ``missed`` is whether the
 * prediction was checked and wrong. ``revealed`` is "checked" after a right prediction, "shown" if the reader
 * requested the answer, else null.
 * @typedef {{picked: number|null, drawn: (number|null)[]|null, missed: boolean,
 *   revealed: "checked"|"shown"|null}} State
 */

/** @type {State} */
export const EMPTY_STATE = { picked: null, drawn: null, missed: false, revealed: null };

/** Return a lesson's saved prediction and progress in this tab. @param {string} key of a lesson @returns {State} */
export const recall = (key) => ({ ...EMPTY_STATE, ...loadFromSession(toKey(key)) });

/** Save a lesson's prediction and progress in this tab. @param {string} key @param {State} state */
export const remember = (key, state) => saveInSession(toKey(key), state);

/** Delete the saved predictions of all lessons whose key has a prefix. @param {string} start */
export const forget = (start) => removeFromSession(toKey(start));

/** Return the key under which a lesson's state is stored in the browser. @param {string} key */
const toKey = (key) => `lesson ${key}`;

/** ``learned`` holds keys of lessons, ``seen`` the indices of questions seen, by lesson; ``path`` is a title or "". */
/** @typedef {{learned: string[], seen: Object<string, number[]>, path: string}} Progress */

const PROGRESS_KEY = "learned";
const NO_PROGRESS = { learned: [], seen: {}, path: "" };

/** Return the reader's progress, as saved in this browser. @returns {Progress} */
export const getProgress = () => ({ ...NO_PROGRESS, ...recallVisit(PROGRESS_KEY) });

/** Add changes to the reader's progress, and save it in this browser. @param {Partial<Progress>} change */
const extend = (change) => rememberVisit(PROGRESS_KEY, { ...getProgress(), ...change });

/** Select a path through the lessons. @param {string} path its title, "" for all lessons */
export const setPath = (path) => extend({ path });

/**
 * Mark a lesson as learned, after the reader has answered both questions at its end.
 * @param {string} key of a lesson
 */
export function markLearned(key) {
  extend({ learned: [...new Set([...getProgress().learned, key])] });
}

/**
 * Pick two questions about a lesson that the reader has not seen, and mark them as seen.
 *
 * Returns their indices. If fewer than two are left, all count as unseen again.
 * @param {string} key of the lesson
 * @param {number} count of its questions
 */
export function pickTwoQuestions(key, count) {
  const { seen } = getProgress();
  const all = Array.from({ length: count }, (_, index) => index);
  const unseen = all.filter((index) => !seen[key]?.includes(index));
  const kept = unseen.length < 2 ? [] : (seen[key] ?? []);
  const two = (unseen.length < 2 ? all : unseen).slice(0, 2);
  extend({ seen: { ...seen, [key]: [...kept, ...two] } });
  return two;
}
