// The numbers of one unit at one stage of a step, and the words that hold for them. No page.

import { createScopeAt, getParameterValues } from "../../formula/curves.js";
import { DRAWS, evaluate, UNIFORM } from "../../formula/evaluation.js";
import { clampTo } from "../../formula/numbers.js";
import { formatFourDigits, formatSubstituted } from "../../formula/substitution.js";

/** @import { Record, Stage, Tensor } from "./view-model.js" */
/**
 * A cell, by indices from 0: a unit, a row of the op's input, the example of that row, and an input.
 * @typedef {{unit: number, row: number, example: number, input: number}} Cell
 * @typedef {{op: import("../../formula/entry.js").Op, rule: import("../../formula/entry.js").Rule,
 *   parameters: Object<string, number>}} Entries
 */

const MOST_LISTED = 3; // numbers of a target

/**
 * The first rule that lets something through; the first of all where none does.
 * @param {Object<string, Record|null>|null} records
 * @param {import("../state/series.js").LegendEntry[]} lines
 */
export function livelyRule(records, lines) {
  const passes = lines.findIndex(({ key }) => records?.[key]?.tensors.gradient.values.some(Boolean));
  return Math.max(passes, 0);
}

/**
 * The cell with the largest gradient; with the largest g where there is no gradient.
 * @param {Record} record
 * @returns {Cell}
 */
export function livelyCell({ tensors: { gradient, g } }) {
  const { values, shape } = gradient.values.some(Boolean) ? gradient : g;
  const [, units] = shape;
  const at = largest(values);
  return { unit: at % units, row: Math.floor(at / units), example: 0, input: 0 };
}

/**
 * The cell that is requested, as far as there is one, with the input whose weight changes most.
 * @param {Record} record
 * @param {{unit: number|null, row: number|null}} requested
 * @param {Cell} lively
 * @returns {Cell}
 */
export function cellOf({ tensors, times, map_side: side, by_example }, requested, lively) {
  const [rows, units] = tensors.x.shape;
  const unit = clampTo(requested.unit ?? lively.unit, 0, units - 1);
  const row = clampTo(requested.row ?? lively.row, 0, rows - 1);
  if (!by_example) return { unit, row, example: 0, input: row };
  const [inputs, across] = tensors.slope.shape;
  const column = Array.from({ length: inputs }, (_, input) => tensors.slope.values[input * across + unit]);
  return { unit, row, example: Math.floor(row / (times * Math.max(side ** 2, 1))), input: largest(column) };
}

/** @param {ArrayLike<number>} values */
function largest(values) {
  return Array.from(values, Math.abs).reduce((best, size, at, sizes) => (size > sizes[best] ? at : best), 0);
}

/** The index of a cell on an axis. @param {string} axis @param {Cell} cell */
export function indexOn(axis, cell) {
  return /** @type {Object<string, number>} */ ({ ...cell, output: 0 })[axis];
}

/** The number of a tensor that belongs to a cell. @param {Tensor} tensor @param {Cell} cell */
export function valueAt({ values, shape, axes }, cell) {
  const [down, across] = axes.map((axis) => indexOn(axis, cell));
  return values[down * shape[1] + across];
}

/** The sentence of a stage at a cell. @param {Stage} stage @param {Record} record @param {Cell} cell */
export function wordsOf({ words, otherwise }, { tensors }, cell) {
  const reason = Object.keys(otherwise).find((name) => valueAt(tensors[name], cell) === 0);
  return reason ? otherwise[reason] : words;
}

/**
 * The line of numbers of a stage at a cell.
 * @param {Stage} stage
 * @param {Record} record
 * @param {Cell} cell
 * @param {Entries} entries
 */
export function numbersOf({ numbers }, record, cell, entries) {
  const at = { record, cell, entries };
  return numbers.replace(/\$(\w+)/g, (_, name) =>
    name in TEXTS ? TEXTS[name](at) : formatFourDigits(valueAt(record.tensors[name], cell)),
  );
}

/** @typedef {{record: Record, cell: Cell, entries: Entries}} At */

/** Texts that are more than a number. @type {Object<string, (at: At) => string>} */
const TEXTS = {
  op(at) {
    const { record, cell, entries } = at;
    return record.plain_op
      ? formatSubstituted(entries.op.tree, scopeOf(at, 1))
      : formatFourDigits(valueAt(record.tensors.y, cell));
  },
  rule: ruleText,
  factor(at) {
    const tree = treeOf(at);
    return at.record.linear && tree !== null
      ? `at g = 1: ${formatSubstituted(tree, scopeOf(at, 1))}`
      : `gradient = ${ruleText(at)}`;
  },
  target({ record, cell }) {
    const values = rowOf(record.tensors.target, cell.example);
    if (record.classes) return `label ${values[0]}`;
    const listed = values.slice(0, MOST_LISTED).map(formatFourDigits).join(", ");
    return `target ${listed}${values.length > MOST_LISTED ? ", …" : ""}`;
  },
  loss({ record, cell }) {
    const { loss, own, target } = record.tensors;
    const result = formatFourDigits(own.values[cell.example]);
    if (!record.classes) return `loss of this example = ${result}`;
    const chance = rowOf(loss, cell.example)[rowOf(target, cell.example)[0]];
    return chance === undefined ? `loss = ${result}` : `loss = −log ${formatFourDigits(chance)} = ${result}`;
  },
};

/** @param {At} at */
function ruleText(at) {
  const { record, cell } = at;
  const [x, g, gradient] = ["x", "g", "gradient"].map((name) => valueAt(record.tensors[name], cell));
  const tree = treeOf(at);
  if (tree !== null) return formatSubstituted(tree, scopeOf(at, g));
  return `${record.formula} = ${formatFourDigits(gradient)}, g = ${formatFourDigits(g)}, x = ${formatFourDigits(x)}`;
}

/** The formula of the gradient; null where numbers cannot be put into it. @param {At} at */
function treeOf({ record, entries: { op, rule } }) {
  return record.plain ? (rule.tree ?? op.gradient) : null;
}

/** The values of the names in a formula at a cell. @param {At} at @param {number} g */
export function scopeOf({ record, cell, entries }, g) {
  const [start, stop] = record.span;
  const { x, y } = record.tensors;
  const scope = drawnScope({ record, cell, entries }, { start, stop, g }, Float64Array.of(valueAt(x, cell)));
  if (scope.draws) Object.defineProperty(scope, "y", { value: Float64Array.of(valueAt(y, cell)) });
  return scope;
}

/**
 * The values of the names in a formula at any x, with what was drawn at a cell.
 * @param {At} at
 * @param {import("../../formula/curves.js").Range} range
 * @param {Float64Array} x
 * @returns {import("../../formula/evaluation.js").Scope}
 */
export function drawnScope({ record: { tensors }, cell, entries: { op, rule, parameters } }, range, x) {
  const scope = createScopeAt(op, getParameterValues(op, rule, parameters), range)(x);
  const given = DRAWS.filter((name) => tensors[name]).map((name) => [name, valueAt(tensors[name], cell)]);
  if (!given.length) return scope;
  const draws = Object.fromEntries(given);
  const twin = { ...draws, [UNIFORM]: 1 - draws[UNIFORM] };
  const ya = evaluate(op.tree, { x, parameters: scope.parameters, draws: twin });
  return Object.assign(scope, { draws: { ...draws, "ya()": ya } });
}

/** @param {Tensor} tensor @param {number} row @returns {number[]} */
export function rowOf({ values, shape: [, across] }, row) {
  return Array.from(values.subarray(row * across, (row + 1) * across));
}
