// The view model of slow motion, which shows one training step stage by stage.

import { getEntries } from "../../choice/choice.js";
import { findEntry, findRuleForOp } from "../../choice/entries.js";
import { clampTo } from "../../formula/numbers.js";
import { DRAWINGS } from "./drawings.js";
import { chooseCell, findLivelyCell, findLivelyRule, fillNumbers, getSentenceAt } from "./numbers.js";
import { ACTIVE, UNAVAILABLE } from "../state/status.js";
import { suggestRemedy } from "../state/remedies.js";
import { getSetting, explainUntrained } from "../state/tasks.js";

/** @import { LegendEntry } from "../state/series.js" */
/** @import { State } from "../state/state.js" */
/**
 * The contents of slow motion.
 * @typedef {{stage: string, rule: number|null, unit: number|null, row: number|null, layer: number|null}} Position the
 *   displayed position: the key of a stage, and indices from 0, null for a default
 * @typedef {{key: string, title: string, view: string, under: string, scale: string, words: string, numbers: string,
 *   otherwise: Object<string, string>, tensor: string, note: string}} Stage a stage, as declared by Python; ``tensor``:
 *   the name of its tensor; ``under``: the forward stage below which it is drawn, "" for a forward stage;
 *   ``otherwise``: sentences by tensor, for positions at which that tensor is 0
 * @typedef {{stages: Stage[], tensors: Object<string, Tensor>, step: number, layer: number, layers: number, seed:
 *   number, times: number, map_side: number, by_example: boolean, span: [number, number], classes: boolean, op: string,
 *   rule: string, gradient: import("../../formula/evaluation.js").Tree|null, parameters: Object<string, number>,
 *   by_unit: Object<string, number[]>, formula: string, linear: boolean, plain: boolean, plain_op: boolean, note:
 *   string, labels: {names: string[], target: string}}} Record one step under one rule, as described in
 *   explorer/training/instruments/slow_motion/slow_motion.py
 * @typedef {{values: Float32Array, shape: [number, number], axes: [string, string], side: number, tiles: number}}
 *   Tensor numbers of a step in rows. ``axes``: the meaning of rows and columns; ``side``, ``tiles``: the size and
 *   number of the images along an axis, or 0
 * @typedef {{key: string, title: string, time: "past"|"now"|"coming", way: "forward"|"backward", under: string, column:
 *   number, note: string, words: string, drawing: import("./drawings.js").Drawing}} StagePicture the contents of a
 *   stage; ``time``: relative to the displayed stage; ``column``: column of the grid, from 1
 * @typedef {{title: string, message: string, action: "pause"|"first"|"again"|"", rules: {label: string, colour: string,
 *   chosen: boolean}[], layers: {count: number, chosen: number}, stages: StagePicture[], words: string, numbers:
 *   string, note: string, count: string, position: Position, rows: number, units: number, ends: string[], canStep:
 *   boolean}} Picture the contents of the dialog
 */

const NO_RUN = "There is no run yet to look at.";
const GOES_ON = "The run goes on: pause it to look at one step.";
const ASKING = "Asking …";
const NAMES = /** @type {const} */ (["rule", "layer", "unit", "row"]);

/** Parse a position in a link, such as "rule,1,2" (indices count from 1). @param {string} text @returns {Position} */
export function parsePosition(text) {
  const [stage, ...numbers] = text.split(",");
  const getNumber = (/** @type {number} */ index) => (numbers[index] ? Number(numbers[index]) - 1 : null);
  return { stage, rule: getNumber(0), layer: getNumber(1), unit: getNumber(2), row: getNumber(3) };
}

/** Format a position for a link, up to the first default. @param {Position} position */
export function toPositionText(position) {
  const numbers = NAMES.map((name) => position[name]);
  const missing = numbers.indexOf(null);
  const leading = missing < 0 ? numbers : numbers.slice(0, missing);
  return [position.stage, ...leading.map((number) => Number(number) + 1)].join();
}

/**
 * Return a key of a step's record, or null if none is to be requested. It changes with step, layer and learning rate.
 * @param {State} state
 */
export function recordKey({ choice, view }) {
  const { state, step, snapshot } = view.status;
  const isBegun = view.id && snapshot; // a measurement without existing nets would take too long
  if (!choice.slow || !isBegun || ["idle", "silent", ...ACTIVE, ...UNAVAILABLE].includes(state)) return null;
  return JSON.stringify([view.id, step, getShownLayer(choice.slow), getSetting(choice, "lr")]);
}

/** Return the index of the displayed layer. @param {string} slow a position, as in a link */
export function getShownLayer(slow) {
  return parsePosition(slow).layer ?? 0;
}

/**
 * Return the contents of the dialog, or null if it is closed.
 * @param {State} state @param {LegendEntry[]} lines @returns {Picture|null}
 */
export function buildSlowMotion(state, lines) {
  const { choice, slow } = state;
  if (!choice.slow) return null;
  const answer = slow && (slow.answer ?? slow.before); // the previous ones until new ones arrive
  const records = answer && !answer.message ? answer : null;
  const requested = parsePosition(choice.slow);
  const rule = clampTo(requested.rule ?? findLivelyRule(records, lines), 0, lines.length - 1);
  const record = withFormulas(records?.[lines[rule].key] ?? null);
  const frame = {
    rules: lines.map(({ label, colour }, index) => ({ label, colour, chosen: index === rule })),
    canStep: !["finished", "diverged"].includes(state.view.status.state),
  };
  const refusal = explainMissingData(state, records, record, lines[rule]);
  if (!record || refusal.message) return { ...frame, ...EMPTY, ...refusal, position: { ...requested, rule } };
  const cell = chooseCell(record, requested, findLivelyCell(record));
  const entries = listEntries(choice, rule, record, cell.unit);
  const present = Math.max(
    record.stages.findIndex(({ key }) => key === requested.stage),
    0,
  );
  const stage = record.stages[present];
  const stages = buildStages(record, present, cell, { ...entries, colour: lines[rule].colour });
  const { drawing } = stages[present];
  const signs = drawing.kind === "map" && drawing.clipped ? ["≤ ", "≥ "] : ["", ""]; // beyond the full colours
  return {
    ...frame,
    ...refusal,
    title: titleOf(state, record, cell),
    layers: { count: record.layers, chosen: record.layer },
    stages,
    words: getSentenceAt(stage, record, cell),
    numbers: fillNumbers(stage, record, cell, entries),
    note: record.note,
    count: `${present + 1} of ${record.stages.length}`,
    position: { stage: stage.key, rule, unit: cell.unit, row: cell.row, layer: record.layer },
    rows: record.tensors.x.shape[0],
    units: record.tensors.x.shape[1],
    ends: drawing.most ? [`${signs[0]}−${drawing.most}`, "0", `${signs[1]}+${drawing.most}`] : [],
  };
}

const EMPTY = {
  title: "Slow motion",
  layers: { count: 1, chosen: 0 },
  stages: [],
  words: "",
  numbers: "",
  note: "",
  count: "",
  rows: 0,
  units: 0,
  ends: [],
};

/**
 * Return a record without formulas if the browser does not know its op or rule, since a branch may continue with
 * others.
 * @param {Record|null} record @returns {Record|null}
 */
function withFormulas(record) {
  if (!record || (findEntry("op", record.op) && findEntry("rule", record.rule))) return record;
  return { ...record, plain: false, plain_op: false };
}

/**
 * Return the op and rule of a step, with the parameter values of one unit.
 * @param {import("../../choice/choice.js").Choice} choice @param {number} index index of the rule
 * @param {Record} record @param {number} unit index of the unit, used if each unit has its own values
 */
function listEntries(choice, index, record, unit) {
  const { op, rules } = getEntries(choice);
  const { gradient } = record;
  const unitValues = Object.entries(record.by_unit).map(([name, values]) => [name, values[unit]]);
  const parameters = { ...record.parameters, ...Object.fromEntries(unitValues) };
  const recordedOp = findEntry("op", record.op) ?? op;
  return {
    op: gradient ? { ...recordedOp, gradient } : recordedOp,
    rule: findRuleForOp(recordedOp, record.rule) ?? rules[index],
    parameters,
  };
}

/**
 * @param {State} state @param {Object<string, Record|null>|null} records @param {Record|null} record
 * @param {LegendEntry} line @returns {{message: string, action: Picture["action"]}}
 */
function explainMissingData({ choice, view, slow }, records, record, line) {
  const { state, sentence, snapshot } = view.status;
  if (ACTIVE.includes(state)) return { message: GOES_ON, action: "pause" };
  if (explainUntrained(choice))
    return { message: `${explainUntrained(choice)} ${suggestRemedy(choice)}`, action: "" };
  if (state === "idle" || (!view.id && !record)) return { message: NO_RUN, action: "first" };
  if ([...UNAVAILABLE, "silent", "crowded"].includes(state)) return { message: sentence, action: "" };
  if (slow?.answer?.message) return { message: slow.answer.message, action: "again" };
  if (!records) return { message: ASKING, action: "" };
  if (record) return { message: "", action: "" };
  const at = snapshot?.diverged[line.key];
  const suffix = typeof at === "number" ? ` at step ${at}` : "";
  const action = state === "diverged" ? "first" : ""; // a restart would discard rules that still train
  return { message: `${line.label} diverged${suffix}: there is no step to show.`, action };
}

/** @param {State} state @param {Record} record @param {import("./numbers.js").Cell} cell */
function titleOf({ view }, record, cell) {
  const { snapshot, state } = view.status;
  const stepText = state === "finished" ? "one more step" : `step ${record.step + 1}`;
  const seeds = snapshot && snapshot.seeds > 1 ? `, seed ${record.seed}` : "";
  return `Slow motion: ${stepText}${seeds}, ${describeCell(record, cell)}`;
}

/** Name a unit, map or kernel, and its row. @param {Record} record @param {import("./numbers.js").Cell} cell */
function describeCell({ times, map_side: side, by_example, tensors: { x } }, { unit, row, example }) {
  const [column, atRow] = [unit + 1, row + 1];
  if (!by_example && x.tiles && x.side)
    return `kernel ${column}, on map ${Math.ceil(atRow / x.side ** 2)}, ${describePlace(x.side, row)}`;
  const name = `${side ? "map" : "unit"} ${column}`;
  if (!by_example) return `${name}, input ${atRow}`;
  if (side) return `${name}, example ${example + 1}, ${describePlace(side, row)}`;
  if (times > 1) return `${name}, example ${example + 1}, time ${(row % times) + 1}`;
  return `${name}, example ${atRow}`;
}

/** Return the row and column of a place in an image. @param {number} side its width @param {number} at index */
function describePlace(side, at) {
  return `row ${Math.floor((at % side ** 2) / side) + 1}, column ${(at % side) + 1}`;
}

/**
 * @param {Record} record @param {number} present index of the displayed stage @param {import("./numbers.js").Cell} cell
 * @param {import("./drawings.js").Entries} entries @returns {StagePicture[]}
 */
function buildStages(record, present, cell, entries) {
  const forward = record.stages.filter(({ under }) => !under).map(({ key }) => key);
  return record.stages.map((stage, index) => ({
    key: stage.key,
    title: stage.title,
    time: index < present ? "past" : index === present ? "now" : "coming",
    way: stage.under ? "backward" : "forward",
    under: stage.under,
    column: 1 + forward.indexOf(stage.under || stage.key),
    note: stage.note,
    words: `${stage.title}. ${getSentenceAt(stage, record, cell)} ${fillNumbers(stage, record, cell, entries)}. ${stage.note}`,
    drawing: DRAWINGS[stage.view](stage, record, cell, entries),
  }));
}
