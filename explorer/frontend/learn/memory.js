// Memory of the lessons, never sent: predictions and revealed answers in this tab, progress in this browser.

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

/** Return the state of a lesson, from before a reload too. @param {string} key of a lesson @returns {State} */
export const recall = (key) => ({ ...EMPTY_STATE, ...loadFromSession(toKey(key)) });

/** Save the state of a lesson. @param {string} key @param {State} state */
export const remember = (key, state) => saveInSession(toKey(key), state);

/** Delete the states of all keys with a prefix, also those saved before a reload. @param {string} start */
export const forget = (start) => removeFromSession(toKey(start));

/** Return the storage key of a lesson. @param {string} key */
const toKey = (key) => `lesson ${key}`;

/** ``learned`` holds keys of lessons, ``seen`` the indices of questions seen, by lesson; ``path`` is a title or "". */
/** @typedef {{learned: string[], seen: Object<string, number[]>, path: string}} Progress */

const PROGRESS_KEY = "learned";
const NO_PROGRESS = { learned: [], seen: {}, path: "" };

/** Return the reader's progress. @returns {Progress} */
export const getProgress = () => ({ ...NO_PROGRESS, ...recallVisit(PROGRESS_KEY) });

/** Save changes of the progress. @param {Partial<Progress>} change */
const extend = (change) => rememberVisit(PROGRESS_KEY, { ...getProgress(), ...change });

/** Select a path. @param {string} path its title, "" for all lessons */
export const setPath = (path) => extend({ path });

/** Mark a lesson as learned, after both retest questions. @param {string} key of a lesson */
export function markLearned(key) {
  extend({ learned: [...new Set([...getProgress().learned, key])] });
}

/**
 * Return the indices of two questions of a lesson that the reader has not seen, and mark them as seen.
 *
 * If fewer than two are left, all count as unseen again.
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
