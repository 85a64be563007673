/**
 * An op as its jumps, and as what lies between them: straight pieces, and curved ones cut into cells. As in
 * explorer/lens/parts.py.
 *
 * @typedef {Float64Array} Floats
 * @typedef {(x: Floats) => Floats} Curve
 *
 * @typedef {object} Parts
 * @property {number[]} at the jumps, ascending
 * @property {number[]} heights
 * @property {[number, number, number][]} straight both ends and the slope of each straight piece that is not level
 * @property {[number, number][]} curved both ends of cells in which a polynomial is near, ascending
 * @property {[number, number][]} holes both ends of stretches without a value; those of a pole are the same
 * @property {Curve} y the op
 * @property {Curve} slope its derivative
 */

import { evaluate } from "../formula/evaluation.js";
import { scopeMaker } from "../formula/curves.js";
import { kinksWithin } from "./stretched.js";

/** @import { Op } from "../formula/entry.js" */

export const NODES = [
  0.03376524289842403, 0.16939530676686776, 0.38069040695840156, 0.6193095930415985, 0.8306046932331322,
  0.9662347571015759,
];
export const WEIGHTS = [
  0.08566224618958514, 0.18038078652406936, 0.23395696728634552, 0.23395696728634552, 0.18038078652406936,
  0.08566224618958514,
];
const SIDE = 1e-11;
const MARGIN = 1e-6;
const SHARES = [0.07, 0.23, 0.41, 0.5, 0.68, 0.83, 0.97];
const STRAIGHT = 1e-13;
const LEAST_JUMP = 1e-12;
const POLE = 1e3;
const EVEN_CELLS = 8;
const [DEEPEST, MOST_CELLS] = [16, 1500];
const CLOSE = [1e-5, 1e-8];
const LEVEL = 1e-12;

const { abs, max, min } = Math;

/**
 * The op and its derivative away from kinks; null where there is no formula for that.
 * @param {Op} op
 * @param {Record<string, number>} parameters
 * @param {[number, number]} span that a mean is over
 * @returns {{y: Curve, slope: Curve}|null}
 */
export function curvesOf(op, parameters, [start, stop]) {
  const { gradient } = op;
  if (gradient === null) return null;
  const scopeAt = scopeMaker(op, parameters, { start, stop, g: 1 });
  return { y: (x) => evaluate(op.tree, scopeAt(x)), slope: (x) => evaluate(gradient, scopeAt(x)) };
}

/**
 * The parts of an op from ``reach`` below a span to as far above it; null where they are too many.
 * @param {Op} op
 * @param {Record<string, number>} parameters
 * @param {[number, number]} span
 * @param {number} reach
 * @returns {Parts|null}
 */
export function partsOf(op, parameters, span, reach) {
  const far = reach + MARGIN * reach;
  const [low, high] = [span[0] - far, span[1] + far];
  const found = kinksWithin(op, parameters, span, [low, high]);
  const curves = curvesOf(op, parameters, span);
  if (!found || !curves) return null;
  const { y, slope } = curves;
  const edges = Float64Array.of(low, ...found.filter((x) => low < x && x < high), high);
  const side = edges.map((x, i) => min(SIDE * max(abs(x), 1), room(edges, i) / 8));
  const jumps = jumpsOf(y, edges.slice(1, -1), side.slice(1, -1));
  const pieces = chordsOf(y, edges, side);
  const bent = pieces.filter(({ hole, straight }) => !hole && !straight);
  const cells = cellsOf(y, slope, firstCells(bent, span, low, high));
  if (!cells) return null;
  const last = pieces.length - 1;
  const sloping = pieces.flatMap(({ straight, rise }, i) =>
    straight && rise !== 0
      ? [row(i === 0 ? -Infinity : edges[i], i === last ? Infinity : edges[i + 1], rise)]
      : [],
  );
  const holes = pieces.flatMap(({ hole }, i) => (hole ? [pair(edges[i], edges[i + 1])] : []));
  return {
    at: jumps.at,
    heights: jumps.heights,
    straight: [...sloping, ...cells.level],
    curved: cells.curved.sort((one, other) => one[0] - other[0]),
    holes: [...holes, ...cells.lost, ...jumps.poles.map((x) => pair(x, x))],
    y,
    slope,
  };
}

/** @param {number} low @param {number} high @returns {[number, number]} */
const pair = (low, high) => [low, high];
/** @param {number} low @param {number} high @param {number} slope @returns {[number, number, number]} */
const row = (low, high, slope) => [low, high, slope];

/** The distance from an edge to the nearer one of its neighbours. @param {Floats} edges @param {number} i */
function room(edges, i) {
  return min(edges[i] - (edges[i - 1] ?? -Infinity), (edges[i + 1] ?? Infinity) - edges[i]);
}

/**
 * The jumps at kinks, with heights without the slope beside them; and the poles.
 * @param {Curve} y
 * @param {Floats} at
 * @param {Floats} side
 */
function jumpsOf(y, at, side) {
  const beside = (/** @type {number} */ way) => y(at.map((x, i) => x + way * side[i]));
  const [right, left, farRight, farLeft] = [beside(1), beside(-1), beside(2), beside(-2)];
  const jumps = { at: /** @type {number[]} */ ([]), heights: /** @type {number[]} */ ([]) };
  const poles = /** @type {number[]} */ ([]);
  at.forEach((x, i) => {
    const isPole = (/** @type {Floats} */ close, /** @type {Floats} */ distant) =>
      abs(close[i]) > POLE && !(abs(close[i]) < 1.9 * abs(distant[i]));
    const height = 2 * (right[i] - left[i]) - (farRight[i] - farLeft[i]);
    const sizes = [right[i], left[i], farRight[i], farLeft[i]].map(abs).filter((size) => !Number.isNaN(size));
    if (isPole(right, farRight) || isPole(left, farLeft)) poles.push(x);
    else if (abs(height) > LEAST_JUMP * max(0, ...sizes)) {
      jumps.at.push(x);
      jumps.heights.push(height);
    }
  });
  return { ...jumps, poles };
}

/**
 * The pieces between edges: both ends, moved inside, which have no value, which are straight, and the slopes
 * of their chords.
 * @param {Curve} y
 * @param {Floats} edges
 * @param {Floats} side
 */
function chordsOf(y, edges, side) {
  const shares = [0, 1, ...SHARES];
  const ends = Array.from(edges.subarray(1), (high, i) => pair(edges[i] + side[i], high - side[i + 1]));
  const x = Float64Array.from(
    ends.flatMap(([low, high]) => shares.map((share) => low + share * (high - low))),
  );
  ends.forEach(([, high], i) => (x[i * shares.length + 1] = high));
  const values = y(x);
  return ends.map(([low, high], i) => {
    const [first, last, ...inside] = values.subarray(i * shares.length, (i + 1) * shares.length);
    const size = max(...[first, last, ...inside].map(abs));
    const hole = !inside.every(Number.isFinite);
    const isOn = (/** @type {number} */ value, /** @type {number} */ at) =>
      !(abs(value - first - SHARES[at] * (last - first)) > STRAIGHT * size);
    return { low, high, hole, straight: !hole && inside.every(isOn), rise: (last - first) / (high - low) };
  });
}

/**
 * Pieces cut at even x within the span, and at ever greater distances beyond it.
 * @param {{low: number, high: number}[]} pieces
 * @param {[number, number]} span
 * @param {number} low
 * @param {number} high
 */
function firstCells(pieces, [start, stop], low, high) {
  const width = (stop - start) / EVEN_CELLS;
  const cuts = Array.from({ length: EVEN_CELLS + 1 }, (_, i) => start + width * i);
  for (let step = width; cuts[cuts.length - 1] < high || cuts[0] > low; step *= 2) {
    cuts.unshift(cuts[0] - step);
    cuts.push(cuts[cuts.length - 1] + step);
  }
  return pieces.flatMap((piece) => {
    const inner = cuts.filter((cut) => piece.low < cut && cut < piece.high);
    const ends = [piece.low, ...inner, piece.high];
    return ends.slice(1).map((end, i) => pair(ends[i], end));
  });
}

/**
 * Cells halved until the nodes of both halves sum to the rise of the op there: curved and straight ones, and such
 * as have no value; null where they are too many.
 * @param {Curve} y
 * @param {Curve} slope
 * @param {[number, number][]} cells
 */
function cellsOf(y, slope, cells) {
  const curved = /** @type {[number, number][]} */ ([]);
  const level = /** @type {[number, number, number][]} */ ([]);
  const lost = /** @type {[number, number][]} */ ([]);
  for (let depth = 0; depth <= DEEPEST && cells.length; depth += 1) {
    const halves = cells.flatMap(([low, high]) => [
      pair(low, (low + high) / 2),
      pair((low + high) / 2, high),
    ]);
    const ends = y(Float64Array.from(halves.flat()));
    const slopes = slope(nodesOf(halves));
    const next = /** @type {[number, number][]} */ ([]);
    cells.forEach((cell, i) => {
      const both = [2 * i, 2 * i + 1];
      const rises = both.map((half) => ends[2 * half + 1] - ends[2 * half]);
      const own = slopes.subarray(2 * NODES.length * i, 2 * NODES.length * (i + 1));
      const isClose = both.every((half, side) => {
        const [low, high] = halves[half];
        const sum = WEIGHTS.reduce(
          (total, weight, node) => total + weight * own[NODES.length * side + node],
          0,
        );
        return abs(sum * (high - low) - rises[side]) <= CLOSE[0] * abs(rises[side]) + CLOSE[1];
      });
      const [least, most] = [min(...own), max(...own)];
      if (isClose && most - least <= LEVEL * (1 + max(abs(least), abs(most))))
        level.push(row(...cell, (rises[0] + rises[1]) / (cell[1] - cell[0])));
      else if (!isClose && depth < DEEPEST) next.push(halves[2 * i], halves[2 * i + 1]);
      else if (rises.every(Number.isFinite)) curved.push(halves[2 * i], halves[2 * i + 1]);
      else lost.push(cell);
    });
    cells = next;
    if (curved.length + cells.length > MOST_CELLS) return null;
  }
  return { curved, level, lost };
}

/** The nodes of cells, one cell after the other. @param {[number, number][]} cells */
export function nodesOf(cells) {
  const x = new Float64Array(NODES.length * cells.length);
  cells.forEach(([low, high], i) =>
    NODES.forEach((node, at) => (x[NODES.length * i + at] = low + node * (high - low))),
  );
  return x;
}
