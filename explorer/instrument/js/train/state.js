// What the page of trainings knows at a moment, and how it goes on from there. No page, no clock.

import { entriesOf } from "../choice/choice.js";
import { ACTIVE, IDLE } from "./status.js";
import { taskOf } from "./tasks.js";

/** @typedef {import("../choice/choice.js").Choice} Choice */
/** @typedef {import("./status.js").View} View */
/**
 * An earlier run: what was chosen for it, and the last that was seen of it.
 * @typedef {{choice: Choice, snapshot: *}} Past
 * The state: what is chosen, what the run that is seen was begun with, how it stands, the run before it,
 * what is said of other settings, whose row and which measure are chosen, the colours of rules, and the table
 * that was pasted.
 * @typedef {{choice: Choice, trained: Choice|null, view: View, before: Past|null, remark: string,
 *   row: string|null, measure: import("./series.js").Measure|null, colours: string[], table: string}} State
 */

const ANEW = "Other settings: the run has begun anew. The faint curves are the one before.";
const OTHER = "Other settings: press Start. The faint curves are the run before.";

/** @param {Choice} choice @param {string[]} colours @param {string} table @returns {State} */
export function stateOf(choice, colours, table) {
  const view = { status: IDLE, notice: "", lost: false, id: null };
  return { choice, trained: null, view, before: null, remark: "", row: null, measure: null, colours, table };
}

/** A run of the present choice begins by a press. @param {State} state @returns {State} */
export function withBegun(state) {
  return { ...state, trained: state.choice, remark: "" };
}

/**
 * Other settings are chosen than the run has: it becomes the one before.
 * @param {State} state
 * @returns {State}
 */
export function withOther(state) {
  const { trained, view, before } = state;
  const { snapshot, state: name } = view.status;
  const goesOn = ACTIVE.includes(name);
  return {
    ...state,
    trained: goesOn ? state.choice : null,
    before: trained && snapshot ? { choice: trained, snapshot } : before,
    remark: goesOn ? ANEW : OTHER,
  };
}

/** Back to step 0: earlier curves go. @param {State} state @returns {State} */
export function withReset(state) {
  return { ...state, before: null, remark: "" };
}

/**
 * The rules of a choice with their colours.
 * @param {Choice} choice
 * @param {string[]} colours
 * @returns {import("./series.js").Lane[]}
 */
export function lanesOf(choice, colours) {
  const { rules: entries } = entriesOf(choice);
  return choice.rules.map(({ key, slot }, index) => ({
    key,
    label: entries[index].label,
    colour: colours[slot % colours.length],
  }));
}

/** The run before, where it learnt the same task. @param {State} state @returns {Past|null} */
export function comparable({ choice, before }) {
  return before && taskOf(before.choice).key === taskOf(choice).key ? before : null;
}
