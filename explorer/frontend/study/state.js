// The state of the Study page, and functions that change it.

import { toStudyKey } from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { OwnTable, Reading } from "../train/state/own-table.js" */
/** @import { Results, StudyEvent } from "../train/state/records.js" */
/**
 * The status of a study, as the server's events report it.
 * @typedef {Omit<StudyEvent, "id"> & {id?: string}} Status
 * The displayed study: ``notice`` is the refusal of an action, ``lost`` says whether the connection is lost.
 * @typedef {{status: Status, notice: string, lost: boolean, id: string|null}} View
 * The cost of a study: a sentence, and whether the study is refused.
 * @typedef {{sentence: string, refused: boolean}} Cost
 * The state of the page: ``studied`` is the choice that the displayed study started with, ``cost`` the cost of a study
 * of ``choice`` (null while that is measured), ``reading`` the server's reading of the visitor's ``table``, and
 * ``wrong`` the number of fields with an invalid value.
 * @typedef {{choice: Choice, studied: Choice|null, studiedKey: string|null, view: View, cost: Cost|null,
 *   colours: {rules: string[], neutral: string}, table: OwnTable, reading: Reading,
 *   wrong: number, finished: import("./order.js").Finished}} State
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
 * Create the initial state of the Study page.
 * @param {Choice} choice
 * @param {State["colours"]} colours
 * @param {OwnTable} table
 * @returns {State}
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
    wrong: 0,
    finished: [],
  };
}

/** Return the page's state after a study has been started. @param {State} state @returns {State} */
export function withBegun(state) {
  return { ...state, studied: state.choice, studiedKey: toStudyKey(state.choice, state.table) };
}

/** Return the page's state without its study. @param {State} state @returns {State} */
export function withReset(state) {
  return { ...state, studied: null, studiedKey: null };
}

/** Return whether the displayed study has the current settings. @param {State} state */
export function isOfChoice({ choice, table, studiedKey }) {
  return studiedKey === toStudyKey(choice, table);
}
