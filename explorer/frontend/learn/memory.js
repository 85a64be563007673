// Storage of the reader's predictions (in the tab) and progress (in the browser). Nothing is sent to the server.

import * as session from "../choice/session.js";

/**
 * The state of a lesson. ``picked``: index of an answer; ``drawn``: heights of a drawn curve; ``missed``: whether the
 * prediction was wrong, or is sent to a class; ``revealed``: "checked" after a right prediction, "shown" if the reader
 * asked for the answer, otherwise null.
 * @typedef {{picked: number|null, drawn: (number|null)[]|null, missed: boolean, revealed: "checked"|"shown"|null}}
 *   State
 */

/** @type {State} */
export const EMPTY_STATE = { picked: null, drawn: null, missed: false, revealed: null };

/** Return the state of a lesson, as stored in this tab. @param {string} key the lesson's key @returns {State} */
export const recall = (key) => ({ ...EMPTY_STATE, ...session.loadFromSession(toKey(key)) });

/** Store the state of a lesson in this tab. @param {string} key the lesson's key @param {State} state */
export const remember = (key, state) => session.saveInSession(toKey(key), state);

/** Delete the stored states of all lessons whose keys begin with ``start``. @param {string} start */
export const forget = (start) => session.removeFromSession(toKey(start));

/** @param {string} key */
const toKey = (key) => `lesson ${key}`;

/**
 * The reader's progress. ``learned``: keys of lessons; ``seen``: indices of final questions, by lesson; ``path``: the
 * title of the selected path, or "".
 * @typedef {{learned: string[], seen: Object<string, number[]>, path: string}} Progress
 */

const PROGRESS_KEY = "learned";
const NO_PROGRESS = { learned: [], seen: {}, path: "" };

/** Return the reader's progress, as stored in this browser. @returns {Progress} */
export const getProgress = () => ({ ...NO_PROGRESS, ...session.loadFromBrowser(PROGRESS_KEY) });

/** @param {Partial<Progress>} change */
const extend = (change) => session.saveInBrowser(PROGRESS_KEY, { ...getProgress(), ...change });

/** Select a path through the lessons. @param {string} path its title, or "" for all lessons */
export const setPath = (path) => extend({ path });

/** Mark a lesson as learned, since both questions at its end are answered. @param {string} key its key */
export function markLearned(key) {
  extend({ learned: [...new Set([...getProgress().learned, key])] });
}

/**
 * Choose two questions about a lesson that the reader has not seen, and mark them as seen. If fewer than two are left,
 * all count as unseen again. Returns their indices.
 * @param {string} key the lesson's key @param {number} count number of its questions
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
