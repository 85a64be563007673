// Drawings of the stages of slow motion, as plain data. No page.

import { sampleCurves } from "../../formula/curves.js";
import { hasDraw, hasLoss } from "../../formula/draws.js";
import { evaluate, UNIFORM } from "../../formula/evaluation.js";
import { makeEvenPoints } from "../../formula/floats.js";
import { clampTo } from "../../formula/numbers.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { share } from "../widgets/svg-paths.js";
import { gridOf } from "../widgets/tiles.js";
import { drawnScope, indexOn, rowOf, scopeOf, valueAt } from "./numbers.js";

/** @import { Cell } from "./numbers.js" */
/** @import { Record, Stage, Tensor } from "./view-model.js" */
/** @typedef {import("./numbers.js").Entries & {colour: string}} Entries */
/**
 * Numbers as colours: ``scale`` is the number of the full colour, ``mark`` the row and column that are looked
 * at, ``pick`` what a click chooses. An image has no row of its own. ``of``: the row of each number, and their unit,
 * where all are rows of one unit; a number in a gap between images is null, its row −1.
 * @typedef {{kind: "map", values: ArrayLike<number|null>, rows: number, columns: number, scale: number,
 *   low: number, mark: {row: number|null, column: number|null}, pick: "cell"|"none", box: boolean,
 *   of: {rows: ArrayLike<number>, unit: number}|null, most: string}} Map
 * A curve as shares of the picture, the point where the unit sits, and ticks for all of its rows.
 * @typedef {{kind: "curve", points: import("../widgets/svg-paths.js").Point[],
 *   at: import("../widgets/svg-paths.js").Point,
 *   ticks: number[], zero: number, colour: string, label: string, ends: [string, string],
 *   most: string}} Curve
 * A bar an output: from one share of the height to another, with the target's where there is one.
 * @typedef {{kind: "bars", bars: {name: string, from: number, to: number, target: number|null,
 *   right: boolean}[], label: string, most: string}} Bars
 * @typedef {Map|Curve|Bars} Drawing
 */

const FULL = 0.985; // of the values, by size, that stay below the full colour
const POINTS = 1001; // of the curve of what draws
const NAMED = 12; // bars that have space for names
const MARGIN = 0.06; // of the height above and below a curve
const CLEAR = 4; // how high a curve is drawn, in the largest size of its x and of its value at the point

/** @typedef {(stage: Stage, record: Record, cell: Cell, entries: Entries) => Drawing} Draw */
/** The drawing of a stage, by its view. @type {Object<string, Draw>} */
export const DRAWINGS = {
  map: mapOf,
  input: inputOf,
  weights: weightsOf,
  op: opOf,
  rule: ruleOf,
  loss: barsOf,
};

/** @param {Stage} stage @param {Record} record @param {Cell} cell @returns {Map} */
function mapOf({ tensor, scale }, { tensors, stages, map_side: side, by_example }, cell) {
  const map = tensors[tensor];
  const of = stages.find(({ key }) => key === scale)?.tensor ?? tensor;
  const full = fullOf(tensors[of].values);
  const [row, column] = map.axes.map((axis) => indexOn(axis, cell));
  const whole = /** @type {Map} */ ({
    kind: "map",
    values: map.values,
    rows: map.shape[0],
    columns: map.shape[1],
    scale: full,
    low: -full,
    mark: { row, column },
    box: false,
    pick: map.axes[1] === "unit" ? "cell" : "none",
    of: null,
    most: formatFourDigits(Number(full.toPrecision(2))),
  });
  if (side && map.axes.join() === "row,unit") return unitsOf(whole, map, cell, side);
  return map.tiles && !by_example && map.axes[1] === "unit" ? kernelOf(whole, map, cell) : whole;
}

/**
 * The units of one map in one example, as an image.
 * @param {Map} map
 * @param {Tensor} tensor
 * @param {Cell} cell
 * @param {number} side
 * @returns {Map}
 */
function unitsOf(map, tensor, { row, unit, example }, side) {
  const first = example * side ** 2;
  const values = columnOf(tensor, unit).slice(first, first + side ** 2);
  const image = imageOf(map, { ...tensor, side, tiles: 1 }, values, row - first);
  return { ...image, pick: "cell", of: { rows: values.map((_, at) => first + at), unit } };
}

/**
 * The weights of one kernel, as images.
 * @param {Map} map
 * @param {Tensor} tensor
 * @param {Cell} cell
 * @returns {Map}
 */
function kernelOf(map, tensor, { row, unit }) {
  const image = imageOf(map, tensor, columnOf(tensor, unit), row);
  return { ...image, pick: "cell", of: { rows: gridOf(tensor.tiles, tensor.side).indices, unit } };
}

/** The example that is looked at as an image, else all of them. @type {typeof mapOf} */
function inputOf(stage, record, cell) {
  const map = mapOf(stage, record, cell);
  const tensor = record.tensors[stage.tensor];
  if (!tensor.side) return { ...map, mark: { row: map.mark.row, column: null } };
  const image = imageOf(map, tensor, rowOf(tensor, cell.row), null);
  if (record.layer) return image; // what an op made is above or below 0
  const [low, high] = [Math.min(...tensor.values), Math.max(...tensor.values)];
  return { ...image, low, scale: high, most: "" };
}

/** The weights of the unit as an image, else those of all. @type {typeof mapOf} */
function weightsOf(stage, record, cell) {
  const map = mapOf(stage, record, cell);
  const tensor = record.tensors[stage.tensor];
  if (!tensor.side || !record.by_example) return map;
  return imageOf(map, tensor, columnOf(tensor, cell.unit), cell.input);
}

/**
 * @param {Map} map
 * @param {Tensor} tensor
 * @param {number[]} values
 * @param {number|null} at
 * @returns {Map}
 */
function imageOf(map, { side, tiles }, values, at) {
  const { width, height, indices } = gridOf(tiles, side);
  const place = at === null ? -1 : indices.indexOf(at);
  return {
    ...map,
    values: Array.from(indices, (index) => (index < 0 ? null : values[index])),
    rows: height,
    columns: width,
    mark: place < 0 ? { row: null, column: null } : { row: Math.floor(place / width), column: place % width },
    box: true,
    pick: "none",
  };
}

/** The number of the full colour: a few beyond it do not make all others pale. @param {Float32Array} values */
function fullOf(values) {
  const sizes = values.map(Math.abs).filter(Number.isFinite).sort();
  return sizes[Math.floor(FULL * (sizes.length - 1))] || sizes[sizes.length - 1] || 1;
}

/** @type {Draw} */
function opOf(stage, record, cell, entries) {
  const y = valueAt(record.tensors.y, cell);
  const { x, y: values } = sampled(record, cell, entries, 1);
  const label = `x = ${formatFourDigits(valueAt(record.tensors.x, cell))}`;
  const draw = record.tensors[UNIFORM];
  const u = draw && hasDraw(entries.op.tree) ? `, u = ${formatFourDigits(valueAt(draw, cell))}` : "";
  return curveOf(record, cell, {
    x,
    y: record.plain_op ? values : null,
    at: y,
    colour: "",
    label: label + u,
  });
}

/** The factor of a linear rule, else what it returns for this g. @type {Draw} */
function ruleOf(stage, record, cell, entries) {
  const { g: upstream, gradient } = record.tensors;
  const [g, returned] = [upstream, gradient].map((tensor) => valueAt(tensor, cell));
  const scale = record.linear ? 1 : g;
  const { x: along, gradient: values } = sampled(record, cell, entries, scale);
  const at = record.linear ? factorOf({ record, cell, entries }, g, returned) : returned;
  const text = at === null ? "× ?" : `${record.linear ? "× " : "gradient "}${formatFourDigits(at)}`;
  const y = record.plain ? values : null;
  return curveOf(record, cell, { x: along, y, at: at ?? 0, colour: entries.colour, label: text });
}

/**
 * The factor by which a linear rule multiplies g at a cell: the quotient, or the formula where g is 0.
 * @param {import("./numbers.js").At} at
 * @param {number} g
 * @param {number} returned
 */
function factorOf(at, g, returned) {
  const { rule, op } = at.entries;
  const tree = rule.tree ?? op.gradient;
  if (at.record.plain && tree !== null) return evaluate(tree, scopeOf(at, 1))[0];
  return g === 0 ? null : returned / g;
}

/**
 * The curves of op and rule, of what draws at the u of the cell; none of a rule that hangs on the loss.
 * @param {Record} record
 * @param {Cell} cell
 * @param {Entries} entries
 * @param {number} g
 * @returns {{x: Float64Array, y: Float64Array, gradient: Float64Array|null}}
 */
function sampled(record, cell, entries, g) {
  const { op, rule, parameters } = entries;
  const [start, stop] = spanOf(record, cell);
  if (!record.tensors[UNIFORM]) {
    const { x, y, gradients } = sampleCurves({ op, rules: [rule] }, { start, stop, g, parameters });
    return { x, y, gradient: gradients[rule.key] };
  }
  const x = makeEvenPoints(start, stop, POINTS);
  const scope = drawnScope({ record, cell, entries }, { start, stop, g }, x);
  const tree = rule.tree ?? op.gradient;
  return {
    x,
    y: evaluate(op.tree, scope),
    gradient: tree === null || hasLoss(tree) ? null : evaluate(tree, scope),
  };
}

/**
 * Over which x curves are drawn: that of the rules, and where the unit's rows lie.
 * @param {Record} record
 * @param {Cell} cell
 * @returns {[number, number]}
 */
function spanOf({ span: [start, stop], tensors }, cell) {
  const rows = columnOf(tensors.x, cell.unit).filter(Number.isFinite);
  return [Math.min(start, ...rows), Math.max(stop, ...rows)];
}

/** @param {Tensor} tensor @param {number} column */
function columnOf({ values, shape: [rows, columns] }, column) {
  return Array.from({ length: rows }, (_, row) => values[row * columns + column]);
}

/**
 * @param {Record} record
 * @param {Cell} cell
 * @param {{x: Float64Array, y: Float64Array|null, at: number, colour: string, label: string}} curve
 * @returns {Curve}
 */
function curveOf(record, cell, { x, y, at, colour, label }) {
  const { x: inputs } = record.tensors;
  const span = spanOf(record, cell);
  const across = (/** @type {number} */ value) => clampTo(share(value, ...span), 0, 1);
  const [low, high] = heights(y ?? [], at, span);
  const level = (/** @type {number} */ value) => clampTo(share(value, low, high), 0, 1);
  const drawn = (/** @type {number} */ value) => (value >= low && value <= high ? level(value) : NaN);
  return {
    kind: "curve",
    points: Array.from(y ?? [], (value, index) => ({ x: across(x[index]), y: drawn(value) })),
    at: { x: across(valueAt(inputs, cell)), y: level(at) },
    ticks: columnOf(inputs, cell.unit).map(across),
    zero: level(0),
    colour,
    label,
    ends: /** @type {[string, string]} */ (span.map((end) => formatFourDigits(Number(end.toPrecision(2))))),
    most: "",
  };
}

/**
 * The ends of what is drawn: 0, the point and the curve, which is left out where it is steep for its x.
 * @param {ArrayLike<number>} y
 * @param {number} at
 * @param {[number, number]} span of x
 */
function heights(y, at, span) {
  const finite = [...Array.from(y).filter(Number.isFinite), 0];
  const near = Math.max(1, Math.abs(at) || 0, ...span.map(Math.abs)) * CLEAR;
  const low = Math.max(Math.min(...finite, at || 0), -near);
  const high = Math.min(Math.max(...finite, at || 0), near);
  const margin = (high - low || 1) * MARGIN;
  return [low - margin, high + margin];
}

/** @param {Stage} stage @param {Record} record @param {Cell} cell @returns {Bars} */
function barsOf(stage, record, cell) {
  const { target, own } = record.tensors;
  const values = rowOf(record.tensors[stage.tensor], cell.example);
  const targets = rowOf(target, cell.example);
  const known = record.classes ? [0, 1] : [0, ...values, ...targets].filter(Number.isFinite);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const level = (/** @type {number} */ value) => clampTo(share(value, low, high || 1) || 0, 0, 1);
  const bars = values.map((value, output) => ({
    name: values.length > NAMED ? "" : String(output + (record.classes ? 0 : 1)),
    from: Math.min(level(0), level(value)),
    to: Math.max(level(0), level(value)),
    target: record.classes ? null : level(targets[output]),
    right: record.classes && output === targets[0],
  }));
  return { kind: "bars", bars, label: `loss ${formatFourDigits(own.values[cell.example])}`, most: "" };
}
