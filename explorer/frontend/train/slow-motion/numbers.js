// The numbers and sentences of slow motion about one unit.

import { createScopeAt, getParameterValues } from "../../formula/curves.js";
import { DRAWS, evaluate, UNIFORM } from "../../formula/evaluation.js";
import { clampTo } from "../../formula/numbers.js";
import { formatFourDigits, formatSubstituted } from "../../formula/substitution.js";

/** @import { Record, Stage, Tensor } from "./view-model.js" */
/**
 * A position in the tensors of a step. All indices are from 0: ``row`` is a row of the op's input, which belongs to
 * ``example``.
 * @typedef {{unit: number, row: number, example: number, input: number}} Cell
 * @typedef {{op: import("../../formula/entry.js").Op, rule: import("../../formula/entry.js").Rule, parameters:
 *   Object<string, number>}} Entries the op and the rule, with the values of their parameters
 */

const MAX_LISTED = 3; // maximum number of target values in a text

/**
 * Return the index of the first rule with a nonzero gradient, or 0.
 * @param {Object<string, Record|null>|null} records the records of a step by rule; null for a rule that has diverged
 * @param {import("../state/series.js").LegendEntry[]} lines
 */
export function findLivelyRule(records, lines) {
  const passes = lines.findIndex(({ key }) => records?.[key]?.tensors.gradient.values.some(Boolean));
  return Math.max(passes, 0);
}

/**
 * Return how far each weight moves in this step, 0 for weights without a gradient, which only Adam's memory moves.
 * @param {Record["tensors"]} tensors
 */
const measureMoves = ({ weights, before, slope }) =>
  weights.values.map((value, at) => (slope.values[at] ? Math.abs(value - before.values[at]) : 0));

/**
 * Return the unit and row to display at first: those of the weight that moves most, at the example with the unit's
 * largest gradient. If no weight moves, those of the largest gradient or else of the largest g.
 * @param {Record} record @returns {Cell}
 */
export function findLivelyCell({ tensors, by_example }) {
  const { gradient, g, weights } = tensors;
  const moves = measureMoves(tensors);
  const candidates = [{ ...weights, values: moves }, gradient, g];
  const shown = candidates.find(({ values }) => values.some(Boolean)) ?? g;
  const [at, units] = [findLargest(shown.values), shown.shape[1]];
  const unit = at % units;
  const row =
    shown.values === moves && by_example ? findLargest(columnOf(gradient, unit)) : Math.floor(at / units);
  return { unit, row, example: 0, input: 0 };
}

/**
 * Return the displayed unit, row, example and input. The input is the one whose weight moves most in this step.
 * @param {Record} record
 * @param {{unit: number|null, row: number|null}} requested the wanted unit and row, which are limited to the sizes of
 *   the tensors; null for that of ``lively``
 * @param {Cell} lively @returns {Cell}
 */
export function chooseCell({ tensors, times, map_side: side, by_example }, requested, lively) {
  const [rows, units] = tensors.x.shape;
  const unit = clampTo(requested.unit ?? lively.unit, 0, units - 1);
  const row = clampTo(requested.row ?? lively.row, 0, rows - 1);
  if (!by_example) return { unit, row, example: 0, input: row };
  return {
    unit,
    row,
    example: Math.floor(row / (times * Math.max(side ** 2, 1))),
    input: findLargest(columnOf({ ...tensors.weights, values: measureMoves(tensors) }, unit)),
  };
}

/** @param {ArrayLike<number>} values */
function findLargest(values) {
  return Array.from(values, Math.abs).reduce((best, size, at, sizes) => (size > sizes[best] ? at : best), 0);
}

/** Return the displayed index along an axis. @param {string} axis its name, such as "unit" @param {Cell} cell */
export function getIndex(axis, cell) {
  return /** @type {Object<string, number>} */ ({ ...cell, output: 0 })[axis];
}

/** Return a tensor's value at the displayed position. @param {Tensor} tensor @param {Cell} cell */
export function getValue({ values, shape, axes }, cell) {
  const [row, column] = axes.map((axis) => getIndex(axis, cell));
  return values[row * shape[1] + column];
}

/**
 * Return a stage's sentence for the displayed position: the usual one, or another if a certain tensor is 0 there.
 * @param {Stage} stage @param {Record} record @param {Cell} cell
 */
export function getSentenceAt({ words, otherwise }, { tensors }, cell) {
  const reason = Object.keys(otherwise).find((name) => getValue(tensors[name], cell) === 0);
  return reason ? otherwise[reason] : words;
}

/**
 * Return a stage's line of numbers for the displayed position.
 * @param {Stage} stage the stage, with the template of the line @param {Record} record @param {Cell} cell
 * @param {Entries} entries
 */
export function fillNumbers({ numbers }, record, cell, entries) {
  const at = { record, cell, entries };
  return numbers.replace(/\$(\w+)/g, (_, name) =>
    name in TEXTS ? TEXTS[name](at) : formatFourDigits(getValue(record.tensors[name], cell)),
  );
}

/** The displayed position, with its numbers. @typedef {{record: Record, cell: Cell, entries: Entries}} At */

/**
 * Functions by name in a template of numbers. Each returns the text in place of the name.
 * @type {Object<string, (at: At) => string>}
 */
const TEXTS = {
  op(at) {
    const { record, cell, entries } = at;
    return record.plain_op
      ? formatSubstituted(entries.op.tree, getCellScope(at, 1))
      : formatFourDigits(getValue(record.tensors.y, cell));
  },
  rule: formatRule,
  factor(at) {
    const tree = getFormulaTree(at);
    return at.record.linear && tree !== null
      ? `at g = 1: ${formatSubstituted(tree, getCellScope(at, 1))}`
      : `gradient = ${formatRule(at)}`;
  },
  target({ record, cell }) {
    const values = rowOf(record.tensors.target, cell.example);
    if (record.classes) return `label ${record.labels.names[values[0]] ?? values[0]}`;
    const listed = values.slice(0, MAX_LISTED).map(formatFourDigits).join(", ");
    return `target ${listed}${values.length > MAX_LISTED ? ", …" : ""}`;
  },
  loss({ record, cell }) {
    const { loss, own: ownLoss, target } = record.tensors;
    const result = formatFourDigits(ownLoss.values[cell.example]);
    if (!record.classes) return `loss of this example = ${result}`;
    const chance = rowOf(loss, cell.example)[rowOf(target, cell.example)[0]];
    return chance === undefined ? `loss = ${result}` : `loss = −log ${formatFourDigits(chance)} = ${result}`;
  },
};

/** @param {At} at */
function formatRule(at) {
  const { record, cell } = at;
  const [x, g, gradient] = ["x", "g", "gradient"].map((name) => getValue(record.tensors[name], cell));
  const tree = getFormulaTree(at);
  if (tree !== null) return formatSubstituted(tree, getCellScope(at, g));
  return `${record.formula} = ${formatFourDigits(gradient)}, g = ${formatFourDigits(g)}, x = ${formatFourDigits(x)}`;
}

/** Return the formula of the rule's gradient, or null if its numbers cannot be substituted. @param {At} at */
function getFormulaTree({ record, entries: { op, rule } }) {
  return record.plain ? (rule.tree ?? op.gradient) : null;
}

/** Return the variables of a formula at the displayed position. @param {At} at @param {number} g upstream gradient */
export function getCellScope({ record, cell, entries }, g) {
  const [start, stop] = record.span;
  const { x, y } = record.tensors;
  const scope = makeDrawScope(
    { record, cell, entries },
    { start, stop, g },
    Float64Array.of(getValue(x, cell)),
  );
  if (scope.draws) Object.defineProperty(scope, "y", { value: Float64Array.of(getValue(y, cell)) });
  return scope;
}

/**
 * Return the values of all variables of a formula for any x, with the random numbers of the displayed position.
 * @param {At} at @param {import("../../formula/curves.js").Range} range @param {Float64Array} x
 * @returns {import("../../formula/evaluation.js").Scope}
 */
export function makeDrawScope({ record: { tensors }, cell, entries: { op, rule, parameters } }, range, x) {
  const scope = createScopeAt(op, getParameterValues(op, rule, parameters), range)(x);
  const pairs = DRAWS.filter((name) => tensors[name]).map((name) => [name, getValue(tensors[name], cell)]);
  if (!pairs.length) return scope;
  const draws = Object.fromEntries(pairs);
  const antithetic = { ...draws, [UNIFORM]: 1 - draws[UNIFORM] };
  const ya = evaluate(op.tree, { x, parameters: scope.parameters, draws: antithetic });
  return Object.assign(scope, { draws: { ...draws, "ya()": ya } });
}

/** Return one column of a tensor. @param {Tensor} tensor @param {number} column @returns {number[]} */
export function columnOf({ values, shape: [down, across] }, column) {
  return Array.from({ length: down }, (_, row) => values[row * across + column]);
}

/** Return one row of a tensor. @param {Tensor} tensor @param {number} row @returns {number[]} */
export function rowOf({ values, shape: [, across] }, row) {
  return Array.from(values.subarray(row * across, (row + 1) * across));
}
