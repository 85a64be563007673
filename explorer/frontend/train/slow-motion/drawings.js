// The drawings of slow motion as data: numbers as colours, curves and bars.

import { sampleCurves } from "../../formula/curves.js";
import { hasDraw, hasLoss } from "../../formula/draws.js";
import { evaluate, UNIFORM } from "../../formula/evaluation.js";
import { makeEvenPoints } from "../../formula/floats.js";
import { clampTo } from "../../formula/numbers.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { share } from "../widgets/svg-paths.js";
import { arrangeGrid } from "../widgets/tiles.js";
import { columnOf, makeDrawScope, getIndex, rowOf, getCellScope, getValue } from "./numbers.js";

/** @import { Cell } from "./numbers.js" */
/** @import { Record, Stage, Tensor } from "./view-model.js" */
/**
 * The op and the rule, with the colour of the rule's curve.
 * @typedef {import("./numbers.js").Entries & {colour: string}} Entries
 */
/**
 * A drawing of slow motion. ``most``: the largest number as text, or "".
 * @typedef {{kind: "map", values: ArrayLike<number|null>, rows: number, columns: number, scale: number, low: number,
 *   mark: {row: number|null, column: number|null}, pick: "cell"|"none", box: boolean, of: {rows: ArrayLike<number>,
 *   unit: number}|null, most: string, clipped: boolean}} ColourMap numbers as colours. ``scale``: the number with full
 *   colour; ``low``: that without colour; ``mark``: the displayed row and column; ``pick``: whether a click selects a
 *   cell; ``box``: whether the mark is one cell; ``of``: the unit and the row of each number, if all are of one unit;
 *   ``clipped``: whether some numbers lie beyond ``scale``. A gap between images has the number null and the row −1.
 * @typedef {{kind: "curve", points: import("../widgets/svg-paths.js").Point[], at:
 *   import("../widgets/svg-paths.js").Point, ticks: number[], zero: number, colour: string, label: string, ends:
 *   [string, string], most: string}} Curve a curve, in fractions of the picture; ``at``: the displayed point;
 *   ``ticks``: x of all rows of its unit; ``ends``: labels of the x axis
 * @typedef {{kind: "bars", bars: {name: string, from: number, to: number, target: number|null, right: boolean}[],
 *   label: string, most: string}} Bars a bar for each output, in fractions of the height; ``target``: the height of its
 *   target, or null
 * @typedef {ColourMap|Curve|Bars} Drawing
 */

const FULL = 0.985; // quantile of the absolute values that has full colour
const POINTS = 1001; // number of points of a stochastic curve
const MAX_NAMED = 12; // maximum number of bars with labels
const MARGIN = 0.06; // space above and below a curve, as a fraction of the height
const CLEAR = 4; // maximum height of a curve, as a multiple of the largest |x| and of its displayed |y|

/**
 * A function that returns the drawing of a stage.
 * @typedef {(stage: Stage, record: Record, cell: Cell, entries: Entries) => Drawing} Draw
 */
/** Functions by kind of view. Each returns the drawing of a stage. @type {Object<string, Draw>} */
export const DRAWINGS = {
  map: mapOf,
  input: getInputImage,
  weights: getWeightImage,
  op: opOf,
  rule: buildRuleCurveDrawing,
  loss: makeBars,
};

/** @param {Stage} stage @param {Record} record @param {Cell} cell @returns {ColourMap} */
function mapOf({ tensor, scale }, { tensors, stages, map_side: side, by_example }, cell) {
  const map = tensors[tensor];
  const scaleTensor = stages.find(({ key }) => key === scale)?.tensor ?? tensor;
  const sizes = tensors[scaleTensor].values.map(Math.abs).filter(Number.isFinite).sort();
  // a quantile, so that outliers do not make all others pale
  const full = sizes[Math.floor(FULL * (sizes.length - 1))] || sizes[sizes.length - 1] || 1;
  const [row, column] = map.axes.map((axis) => getIndex(axis, cell));
  const picture = /** @type {ColourMap} */ ({
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
    clipped: map.values.some((value) => Math.abs(value) > full),
  });
  if (side && map.axes.join() === "row,unit") return getMapImage(picture, map, cell, side);
  return map.tiles && !by_example && map.axes[1] === "unit" ? getKernelImage(picture, map, cell) : picture;
}

/**
 * Return the units of one map of a convolution for one example, as an image.
 * @param {ColourMap} map @param {Tensor} tensor @param {Cell} cell @param {number} side width and height of the image
 * @returns {ColourMap}
 */
function getMapImage(map, tensor, { row, unit, example }, side) {
  const first = example * side ** 2;
  const values = columnOf(tensor, unit).slice(first, first + side ** 2);
  const image = arrangeImages(map, { ...tensor, side, tiles: 1 }, values, row - first);
  return { ...image, pick: "cell", of: { rows: values.map((_, at) => first + at), unit } };
}

/**
 * Return the weights of one kernel of a convolution as images, one for each map of the layer below.
 * @param {ColourMap} map @param {Tensor} tensor @param {Cell} cell @returns {ColourMap}
 */
function getKernelImage(map, tensor, { row, unit }) {
  const image = arrangeImages(map, tensor, columnOf(tensor, unit), row);
  return { ...image, pick: "cell", of: { rows: arrangeGrid(tensor.tiles, tensor.side).indices, unit } };
}

/** Return the displayed example as an image; if it is none, all examples as rows. @type {typeof mapOf} */
function getInputImage(stage, record, cell) {
  const map = mapOf(stage, record, cell);
  const tensor = record.tensors[stage.tensor];
  if (!tensor.side) return { ...map, mark: { row: map.mark.row, column: null } };
  const image = arrangeImages(map, tensor, rowOf(tensor, cell.row), null);
  if (record.layer) return image; // the outputs of an op have both signs, so that 0 is in the middle of the scale
  const [low, high] = [Math.min(...tensor.values), Math.max(...tensor.values)];
  return { ...image, low, scale: high, most: "" };
}

/** Return the displayed unit's weights as an image, or all units' as rows of numbers. @type {typeof mapOf} */
function getWeightImage(stage, record, cell) {
  const map = mapOf(stage, record, cell);
  const tensor = record.tensors[stage.tensor];
  if (!tensor.side || !record.by_example) return map;
  return arrangeImages(map, tensor, columnOf(tensor, cell.unit), cell.input);
}

/**
 * @param {ColourMap} map @param {Tensor} tensor @param {number[]} values
 * @param {number|null} at index of the marked number, null for none @returns {ColourMap}
 */
function arrangeImages(map, { side, tiles }, values, at) {
  const { width, height, indices } = arrangeGrid(tiles, side);
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

/** @type {Draw} */
function opOf(stage, record, cell, entries) {
  const y = getValue(record.tensors.y, cell);
  const { x, y: values } = sampleEntries(record, cell, entries, 1);
  const label = `x = ${formatFourDigits(getValue(record.tensors.x, cell))}`;
  const draw = record.tensors[UNIFORM];
  const u = draw && hasDraw(entries.op.tree) ? `, u = ${formatFourDigits(getValue(draw, cell))}` : "";
  return buildMarkedCurve(record, cell, {
    x,
    y: record.plain_op ? values : null,
    at: y,
    colour: "",
    label: label + u,
  });
}

/**
 * Return the curve of the rule: its factor on g if it is linear in g, otherwise its gradient at the displayed g.
 * @type {Draw}
 */
function buildRuleCurveDrawing(stage, record, cell, entries) {
  const { g: upstream, gradient } = record.tensors;
  const [g, returned] = [upstream, gradient].map((tensor) => getValue(tensor, cell));
  const scale = record.linear ? 1 : g;
  const { x: xs, gradient: values } = sampleEntries(record, cell, entries, scale);
  const at = record.linear ? computeRuleFactor({ record, cell, entries }, g, returned) : returned;
  const text = at === null ? "× ?" : `${record.linear ? "× " : "gradient "}${formatFourDigits(at)}`;
  const y = record.plain ? values : null;
  return buildMarkedCurve(record, cell, { x: xs, y, at: at ?? 0, colour: entries.colour, label: text });
}

/**
 * Return the factor by which a rule that is linear in g multiplies g, or null if g is 0 and no formula tells it.
 * @param {import("./numbers.js").At} at @param {number} g the upstream gradient
 * @param {number} returned the rule's gradient
 */
function computeRuleFactor(at, g, returned) {
  const { rule, op } = at.entries;
  const tree = rule.tree ?? op.gradient;
  if (at.record.plain && tree !== null) return evaluate(tree, getCellScope(at, 1))[0];
  return g === 0 ? null : returned / g;
}

/**
 * Sample the curves of op and rule. Stochastic ones use the random number of the displayed cell. ``gradient`` is null
 * if the rule depends on the loss.
 * @param {Record} record @param {Cell} cell @param {Entries} entries @param {number} g the upstream gradient
 * @returns {{x: Float64Array, y: Float64Array, gradient: Float64Array|null}}
 */
function sampleEntries(record, cell, entries, g) {
  const { op, rule, parameters } = entries;
  const [start, stop] = findSpan(record, cell);
  if (!record.tensors[UNIFORM]) {
    const { x, y, gradients } = sampleCurves({ op, rules: [rule] }, { start, stop, g, parameters });
    return { x, y, gradient: gradients[rule.key] };
  }
  const x = makeEvenPoints(start, stop, POINTS);
  const scope = makeDrawScope({ record, cell, entries }, { start, stop, g }, x);
  const tree = rule.tree ?? op.gradient;
  return {
    x,
    y: evaluate(op.tree, scope),
    gradient: tree === null || hasLoss(tree) ? null : evaluate(tree, scope),
  };
}

/**
 * Return a range of x that includes the inputs of the displayed unit in all rows.
 * @param {Record} record @param {Cell} cell @returns {[number, number]}
 */
function findSpan({ span: [start, stop], tensors }, cell) {
  const rows = columnOf(tensors.x, cell.unit).filter(Number.isFinite);
  return [Math.min(start, ...rows), Math.max(stop, ...rows)];
}

/**
 * @param {Record} record @param {Cell} cell
 * @param {{x: Float64Array, y: Float64Array|null, at: number, colour: string, label: string}} curve ``y``: null for a
 *   point without a curve; ``at``: y of the point
 * @returns {Curve}
 */
function buildMarkedCurve(record, cell, { x, y, at, colour, label }) {
  const { x: inputs } = record.tensors;
  const span = findSpan(record, cell);
  const toX = (/** @type {number} */ value) => clampTo(share(value, ...span), 0, 1);
  const [low, high] = findYRange(y ?? [], at, span);
  const toY = (/** @type {number} */ value) => clampTo(share(value, low, high), 0, 1);
  const toVisibleY = (/** @type {number} */ value) => (value >= low && value <= high ? toY(value) : NaN);
  return {
    kind: "curve",
    points: Array.from(y ?? [], (value, index) => ({ x: toX(x[index]), y: toVisibleY(value) })),
    at: { x: toX(getValue(inputs, cell)), y: toY(at) },
    ticks: columnOf(inputs, cell.unit).map(toX),
    zero: toY(0),
    colour,
    label,
    ends: /** @type {[string, string]} */ (span.map((end) => formatFourDigits(Number(end.toPrecision(2))))),
    most: "",
  };
}

/**
 * Return a range of y with a margin. It includes 0 and the displayed point, but not very high parts of the curve.
 * @param {ArrayLike<number>} y @param {number} at y of the displayed point
 * @param {[number, number]} span the range of x
 */
function findYRange(y, at, span) {
  const finite = [...Array.from(y).filter(Number.isFinite), 0];
  const near = Math.max(1, Math.abs(at) || 0, ...span.map(Math.abs)) * CLEAR;
  const low = Math.max(Math.min(...finite, at || 0), -near);
  const high = Math.min(Math.max(...finite, at || 0), near);
  const margin = (high - low || 1) * MARGIN;
  return [low - margin, high + margin];
}

/** @param {Stage} stage @param {Record} record @param {Cell} cell @returns {Bars} */
function makeBars(stage, record, cell) {
  const { classes, labels } = record;
  const { target, own: ownLoss } = record.tensors;
  const values = rowOf(record.tensors[stage.tensor], cell.example);
  const targets = rowOf(target, cell.example);
  const bounds = classes ? [0, 1] : [0, ...values, ...targets].filter(Number.isFinite);
  const [low, high] = [Math.min(...bounds), Math.max(...bounds)];
  const toY = (/** @type {number} */ value) => clampTo(share(value, low, high || 1) || 0, 0, 1);
  const nameOf = (/** @type {number} */ output) =>
    classes ? (labels.names[output] ?? String(output)) : labels.target || String(output + 1);
  const bars = values.map((value, output) => ({
    name: values.length > MAX_NAMED ? "" : nameOf(output),
    from: Math.min(toY(0), toY(value)),
    to: Math.max(toY(0), toY(value)),
    target: classes ? null : toY(targets[output]),
    right: classes && output === targets[0],
  }));
  return { kind: "bars", bars, label: `loss ${formatFourDigits(ownLoss.values[cell.example])}`, most: "" };
}
