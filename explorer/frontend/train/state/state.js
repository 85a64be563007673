// The state of the page Train, and its transitions. No page, no clock.

import { getEntries } from "../../choice/choice.js";
import { withPast } from "./history.js";
import { ACTIVE, IDLE } from "./status.js";
import { dataKey } from "./tasks.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { OwnTable, Reading } from "./own-table.js" */
/** @import { Status, View } from "./status.js" */
/** The measure of alignment that is drawn. @typedef {"cosines"|"agreements"} Aligned */
/**
 * The records of the step that ``key`` names, by rule, or a message; null before they arrive.
 * @typedef {{key: string, answer: Object<string, *>|null, before: Object<string, *>|null}} Slow
 */
/**
 * A request to an instrument: its arguments, the step and the run, and the answer by rule;
 * null before it arrives, or a message where there is none.
 * @typedef {{numbers: Object<string, number>, step: number, run: string|null,
 *   answer: Object<string, *>|null}} Request
 * An earlier run: its choice, its last series, its branch points, the reason why it is over, a number of its own, and
 * what it learnt from.
 * @typedef {{choice: Choice, snapshot: import("./series.js").Drawn, recorded?: import("./records.js").Recorded,
 *   name: string, number: number, data: string}} Past
 */
/**
 * The state of the page. Panels, numbers and the layer are a way of looking, and stand in no link.
 * @typedef {object} State
 * @property {Choice} choice
 * @property {Choice|null} trained the choice that the present run began with
 * @property {string} data what it learns from, as ``dataKey`` has it
 * @property {View} view the present run
 * @property {Past[]} ghosts the runs before it
 * @property {number|null} at the step that is displayed; null for the last one
 * @property {Status|null} displayed the status of the run at that step
 * @property {string} remark on other settings
 * @property {import("./series.js").Measure|null} measure of the large chart
 * @property {Object<string, boolean>} panels opened or closed by the visitor
 * @property {Object<string, Object<string, number>>} numbers of instruments
 * @property {number|null} layer
 * @property {Aligned} aligned
 * @property {Object<string, Request>} requests to single instruments
 * @property {string[]} colours of rules
 * @property {number} ink the colour of letters as a pixel
 * @property {OwnTable} table of the visitor
 * @property {Reading} reading of it
 * @property {Slow|null} slow records of slow motion
 * @property {{settingsKey: string, answer: *}|null} first step 0 of settings without a run, null before it arrives
 * @property {boolean} unfolded whether the middle layers of the drawing stand one by one
 * @property {string|null} lifted the rule that is pointed at
 * @property {{key: string, before: Choice, after: Choice|null}|null} changing a task that asks whether op and rules stay,
 *   the choice before it, and once it is chosen, the one after it
 * @property {boolean} drawn whether the net is drawn as an object
 * @property {boolean} evidence whether the area "Why" is open
 * @property {string|null} why the rule whose line's evidence is open
 * @property {string|null} rate a learning rate set in mid-run, until the run has recorded its step
 */

const ANEW = "Other settings: the run has started again.";
const AT_ITS_END = { at: null, displayed: null, remark: "", rate: null }; // nothing earlier is looked at
const OTHER = "Other settings: press Start.";

/**
 * @param {Choice} choice
 * @param {{colours: string[], ink: number}} theme
 * @param {{table: OwnTable, panels: State["panels"], numbers: State["numbers"]}} stored of this session
 * @returns {State}
 */
export function stateOf(choice, { colours, ink }, { table, panels, numbers }) {
  const view = { status: IDLE, notice: "", lost: false, id: null };
  return {
    choice,
    ...AT_ITS_END,
    trained: null,
    data: "",
    view,
    ghosts: [],
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
    lifted: null,
    changing: null,
    drawn: false,
    evidence: true,
    why: null,
  };
}

/** A run of the present choice begins by a press. @param {State} state @returns {State} */
export function withBegun(state) {
  return { ...state, ...AT_ITS_END, ...taught(state), changing: null };
}

/**
 * Other settings are chosen than the run has: it becomes the one before.
 * @param {State} state
 * @returns {State}
 */
export function withOther(state) {
  const goesOn = ACTIVE.includes(state.view.status.state);
  return {
    ...state,
    ...AT_ITS_END,
    ...(goesOn ? taught(state) : { trained: null }),
    ghosts: state.trained ? withPast(state, "before other settings") : state.ghosts,
    remark: goesOn ? ANEW : OTHER,
  };
}

/** What the run that begins now is taught. @param {State} state */
function taught({ choice, table }) {
  return { trained: choice, data: dataKey(choice, table) };
}

/** Back to step 0: earlier curves go. @param {State} state @returns {State} */
export function withReset(state) {
  return { ...state, ...AT_ITS_END, trained: state.trained && state.choice, ghosts: [] };
}

/**
 * The rules of a choice with their colours.
 * @param {Choice} choice
 * @param {string[]} colours
 * @returns {import("./series.js").LegendEntry[]}
 */
export function legendOf(choice, colours) {
  const { rules: entries } = getEntries(choice);
  return choice.rules.map(({ key, slot }, index) => ({
    key,
    label: entries[index].label,
    colour: colours[slot % colours.length],
  }));
}

/** The runs before, where they learnt from the same data. @param {State} state @returns {Past[]} */
export function comparable({ choice, table, ghosts }) {
  return ghosts.filter(({ data }) => data === dataKey(choice, table));
}
