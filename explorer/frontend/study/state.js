// The state of the Study page, and functions that change it.

import { toStudyKey } from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { OwnTable, Reading } from "../train/state/own-table.js" */
/** @import { StudyEvent } from "../train/state/records.js" */
/**
 * The state of the Study page.
 * @typedef {Omit<StudyEvent, "id"> & {id?: string}} Status the status of a study, from the server's events
 * @typedef {{status: Status, notice: string, lost: boolean, id: string|null}} View the displayed study; ``notice``: why
 *   the last action failed, or ""; ``lost``: whether the connection is interrupted
 * @typedef {{sentence: string, refused: boolean}} Cost a sentence about the cost of a study, and whether it exceeds a
 *   limit
 * @typedef {{choice: Choice, studied: Choice|null, studiedKey: string|null, view: View, cost: Cost|null, colours:
 *   {rules: string[], neutral: string}, table: OwnTable, reading: Reading, wrong: string, finished:
 *   import("./order.js").Finished}} State ``studied``, ``studiedKey``: settings of the displayed study, and their key;
 *   ``cost``: that of a study with the current settings, null until known; ``reading``: the server's analysis of the
 *   user's ``table``; ``wrong``: the name of an invalid field, or ""
 */

export const ACTIVE = ["waiting", "running"];

/** @type {Status} */
export const IDLE = {
  state: "idle",
  sentence: "Ready: press Start.",
  done: 0,
  total: 0,
  left: "",
  results: null,
};

/**
 * Return the initial state of the Study page.
 * @param {Choice} choice @param {State["colours"]} colours @param {OwnTable} table @returns {State}
 */
export function createState(choice, colours, table) {
  const view = { status: IDLE, notice: "", lost: false, id: null };
  return {
    choice,
    studied: null,
    studiedKey: null,
    view,
    cost: null,
    colours,
    table,
    reading: null,
    wrong: "",
    finished: [],
  };
}

/** Return the state after the user has started a study. @param {State} state @returns {State} */
export function withBegun(state) {
  return { ...state, studied: state.choice, studiedKey: toStudyKey(state.choice, state.table) };
}

/** Return whether the displayed study has the current settings. @param {State} state */
export function isOfChoice({ choice, table, studiedKey }) {
  return studiedKey === toStudyKey(choice, table);
}
