// The state of the Train page, and functions that return a changed copy.

import { takePast } from "./past-run.js";
import { ACTIVE, IDLE } from "./status.js";
import { hasSameEnd, toDataKey } from "./tasks.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { OwnTable, Reading } from "./own-table.js" */
/** @import { Status, View } from "./status.js" */
/** The plotted measure of alignment: cosines or equal signs. @typedef {"cosines"|"agreements"} AlignmentMeasure */
/**
 * The data of slow motion. ``key``: the key of the step; ``answer``: records by rule, or a message; ``before``: the
 * last records.
 * @typedef {{key: string, answer: Object<string, *>|null, before: Object<string, *>|null}} SlowMotion
 */
/**
 * @typedef {{numbers: Object<string, number>, step: number, run: string|null, answer: Object<string, *>|null}} Request
 *   a request to an instrument: its arguments, the step and the run; ``answer``: the answers by rule, or a message;
 *   null before it arrives
 */
/**
 * The state of the Train page. Panels, numbers and the layer only affect the display and are in no link.
 * @typedef {object} State
 * @property {Choice} choice the settings
 * @property {Choice|null} trained the settings with which the present run started
 * @property {string} data the key of its training data, from ``toDataKey`` @property {View} view the present run
 * @property {import("./past-run.js").PastRun|null} past the run before this one, whose curves stay on the chart
 * @property {number|null} at the displayed step, or null for the last one
 * @property {Status|null} displayed the status of the run at that step
 * @property {string} remark a note on other settings or a missing step
 * @property {import("./series.js").Measure|null} measure the quantity on the main chart, null for the default
 * @property {Object<string, boolean>} panels whether the user has opened or closed a panel, by key
 * @property {Object<string, Object<string, number>>} numbers the arguments of instruments, by key
 * @property {number|null} layer index of the displayed layer, null for the last
 * @property {AlignmentMeasure} aligned the plotted measure of alignment
 * @property {Object<string, Request>} requests the latest request to each instrument
 * @property {string[]} colours the colours of rules @property {number} ink the colour of text as a pixel
 * @property {OwnTable} table the user's table @property {Reading} reading the server's analysis of the table
 * @property {SlowMotion|null} slow the data of slow motion
 * @property {{settingsKey: string, answer: *}|null} first step 0 of settings without a run, null before it arrives
 * @property {boolean} unfolded whether the drawing shows the middle layers one by one
 * @property {string|null} highlighted the highlighted rule
 * @property {string|null} plane the rule highlighted last, whose regions are drawn if there are many rules
 * @property {{key: string, before: Choice, after: Choice|null}|null} changing a change of task that asks whether op and
 *   rules stay: the settings before it and, once the user has answered, after it
 * @property {boolean} evidence whether the area "Why" is open
 * @property {string|null} why the rule whose evidence is open
 * @property {string} wrong the name of a setting with invalid text, or ""
 * @property {string|null} rate a learning rate set during the run, until the run has recorded it
 */

const RESTARTED = "Other settings: the run has started again.";
const AT_LAST_STEP = { at: null, displayed: null, remark: "", rate: null }; // to display the last step
export const OTHER_SETTINGS = "These settings are not trained yet: press Start.";

/**
 * Return the initial state of the Train page.
 * @param {Choice} choice @param {{colours: string[], ink: number}} theme
 * @param {{table: OwnTable, panels: State["panels"], numbers: State["numbers"]}} stored values from before a reload of
 *   the page
 * @returns {State}
 */
export function createState(choice, { colours, ink }, { table, panels, numbers }) {
  const view = { status: IDLE, notice: "", lost: false, id: null };
  return {
    choice,
    ...AT_LAST_STEP,
    trained: null,
    data: "",
    view,
    past: null,
    measure: null,
    panels,
    numbers,
    layer: null,
    aligned: "cosines",
    requests: {},
    colours,
    ink,
    table,
    reading: null,
    slow: null,
    first: null,
    unfolded: false,
    highlighted: null,
    plane: null,
    changing: null,
    evidence: true,
    why: null,
    wrong: "",
  };
}

/**
 * Return the state after the user has started a run. The curves of a run with other settings stay.
 * @param {State} state @returns {State}
 */
export function withBegun(state) {
  const isOther = state.trained && !hasSameEnd(state.trained, state.choice);
  const past = isOther ? takePast(state) : state.past;
  return { ...state, ...AT_LAST_STEP, ...getTrained(state), past, changing: null };
}

/**
 * Return the state after a change of settings that ends the present run. Its curves stay.
 * @param {State} state @returns {State}
 */
export function withOtherSettings(state) {
  const goesOn = ACTIVE.includes(state.view.status.state);
  return {
    ...state,
    ...AT_LAST_STEP,
    ...(goesOn ? getTrained(state) : { trained: null }),
    past: takePast(state),
    remark: goesOn ? RESTARTED : OTHER_SETTINGS,
  };
}

/** @param {State} state */
function getTrained({ choice, table }) {
  return { trained: choice, data: toDataKey(choice, table) };
}

/** Return the state at step 0, without an earlier run. @param {State} state @returns {State} */
export function withReset(state) {
  return { ...state, ...AT_LAST_STEP, trained: state.trained && state.choice, past: null };
}
