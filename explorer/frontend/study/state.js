// The state of the page Study, and its transitions. No page, no clock.

import { studyKey } from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { OwnTable, Reading } from "../train/state/own-table.js" */
/** @import { Cell, Judgement as Judged, Results, StudyEvent } from "../train/state/records.js" */
/**
 * A study as an event has it.
 * @typedef {Omit<StudyEvent, "id"> & {id?: string}} Status
 * The study as it is displayed: ``notice`` is the refusal of an action, ``lost`` whether the connection is.
 * @typedef {{status: Status, notice: string, lost: boolean, id: string|null}} View
 * The cost of a study: in words, and whether it is refused.
 * @typedef {{sentence: string, refused: boolean}} Cost
 * The state: what is chosen, what the study that is seen was begun with, how it stands, what the chosen one
 * would cost (null while that is measured), the colours, the visitor's table and what was read of it, how many fields hold
 * something that cannot be, and the studies that are finished.
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

/** @param {Choice} choice @param {State["colours"]} colours @param {OwnTable} table @returns {State} */
export function stateOf(choice, colours, table) {
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

/** A study of the present choice begins. @param {State} state @returns {State} */
export function withBegun(state) {
  return { ...state, studied: state.choice, studiedKey: studyKey(state.choice, state.table) };
}

/** The state without its study. @param {State} state @returns {State} */
export function withReset(state) {
  return { ...state, studied: null, studiedKey: null };
}

/** Whether the study on display is one of the choice. @param {State} state */
export function isOfChoice({ choice, table, studiedKey }) {
  return studiedKey === studyKey(choice, table);
}
