/**
 * Search for the kinks of a curve: an x at which it jumps, changes slope or is undefined. They are declared by an op or
 * rule, or searched by sampling and bisection, as in explorer/curves/kinks.py.
 * @typedef {{tree: Tree, pieces: Piece[], slopes: {x: Tree, y: Tree}}} KinkSource an op, rule or other formula that
 *   declares no kinks: see ``Common``
 * @typedef {(x: Float64Array) => Scope} ScopeAt returns the values of variables at each x
 * @typedef {(x: Float64Array) => Float64Array} Values evaluates a formula at each x
 * @typedef {(x: Float64Array, upstream: Float64Array) => Float64Array} OpSlope the op's derivative times ``upstream``
 * @typedef {{scopeAt: ScopeAt, start: number, stop: number, opSlope: OpSlope, torchs: boolean}} Search a range, with
 *   the functions that evaluate the op on it; ``torchs``: whether kinks of autograd's gradient are searched, which may
 *   differ at one x from its neighbourhood
 * @typedef {{values: Float64Array, slopes: Float64Array}} Sides values and slopes of a curve at each x
 * @typedef {(x: Float64Array) => Sides} Curve evaluates a curve and its slope at each x
 */

import { hasDraw, resolveTree, substituteTrees } from "./draws.js";
import { evaluateConstant, evaluate, NORMAL, getOperands, UNIFORM } from "./evaluation.js";
import { makeEvenPoints, getFloatSpacing } from "./floats.js";
import { getSampling } from "./sampling.js";

/** @import { Loss } from "./draws.js" */
/** @import { Entry, Lattice, Op, Piece } from "./entry.js" */
/** @import { Node, Scope, Tree } from "./evaluation.js" */

const MERGE_DISTANCE = 1e-6; // fraction of the range; kinks closer together are merged
const INDIRECT_NAMES = ["y", "g", "ya()", "f()", "fa()"];
/**
 * The extreme values of the random numbers, at which a mean's kinks can lie. The normal one dominates any sum.
 * @type {Record<string, Tree>[]}
 */
const EXTREME_DRAWS = [
  { [UNIFORM]: 0, [NORMAL]: ["-", 1e300] },
  { [UNIFORM]: 1, [NORMAL]: 1e300 },
];

/** The expressions in which the kinks of a mean are searched, cached by formula. @type {WeakMap<Node, Piece[]>} */
const extremePieces = new WeakMap();

/**
 * Return the kinks of an op or rule within a range, in ascending order. Returns null if there are too many to show.
 * @param {Entry} entry @param {Search} search @param {Record<string, number>} parameters
 * @param {Float64Array|null} [candidates] positions to test if it declares no kinks, by default found by a search
 */
export function findEntryKinks(entry, search, parameters, candidates) {
  const { start, stop } = search;
  const all = entry.kinks
    ? placeDeclared(entry.kinks, parameters, start, stop)
    : findOwnKinks(/** @type {KinkSource} */ (entry), search, candidates);
  return all && sortOrNull(all.filter((x) => x >= start && x <= stop));
}

/**
 * Find the kinks of an op or rule that declares none. Returns null if there are too many. For a stochastic one, all
 * candidates are returned, because its mean cannot be tested here.
 * @param {KinkSource} entry @param {Search} search @param {Float64Array|null} [candidates]
 */
function findOwnKinks(entry, search, candidates) {
  if (!hasDraw(entry.tree)) return searchKinks(entry, search, candidates);
  const possible = candidates === undefined ? findCandidates(entry, search) : candidates;
  return possible && [...possible];
}

/** Return distinct numbers in ascending order, null for more than ``mostKinks``. @param {number[]} found */
export function sortOrNull(found) {
  const distinct = [...new Set(found)].sort((a, b) => a - b);
  return distinct.length <= getSampling().mostKinks ? distinct : null;
}

/**
 * @param {(Tree|Lattice)[]} kinks @param {Record<string, number>} parameters @param {number} start @param {number} stop
 */
function placeDeclared(kinks, parameters, start, stop) {
  const evaluateTree = (/** @type {Tree} */ tree) => evaluateConstant(tree, parameters);
  const positions = [];
  for (const kink of kinks) {
    const isLattice = typeof kink !== "number" && "spacing" in kink;
    const points = isLattice ? listLatticePoints(kink, evaluateTree, start, stop) : [evaluateTree(kink)];
    if (!points) return null;
    positions.push(...points);
  }
  return positions;
}

/**
 * @param {Lattice} lattice @param {(tree: Tree) => number} value evaluates a constant tree @param {number} start
 * @param {number} stop
 */
function listLatticePoints(lattice, value, start, stop) {
  const [offset, spacing] = [value(lattice.offset), value(lattice.spacing)];
  const low = lattice.low === null ? start : Math.max(start, value(lattice.low));
  const high = lattice.high === null ? stop : Math.min(stop, value(lattice.high));
  if (!(spacing > 0)) return [];
  if (!((high - low) / spacing <= getSampling().mostKinks)) return null;
  const slack = 1e-9 * spacing;
  const points = [];
  for (let k = Math.ceil((low - offset - slack) / spacing); k * spacing <= high - offset + slack; k += 1) {
    points.push(offset + k * spacing);
  }
  return points;
}

/**
 * Search a formula for kinks by sampling. Returns null if there are too many.
 * @param {KinkSource} entry @param {Search} search @param {Float64Array|null} [candidates]
 */
export function searchKinks(entry, search, candidates = findCandidates(entry, search)) {
  const { scopeAt, start, stop, opSlope, torchs } = search;
  return candidates && selectKinks(makeCurve(entry, scopeAt, opSlope), candidates, stop - start, torchs);
}

/**
 * Find every x at which a formula may have a kink. Returns null if there are too many.
 * @param {KinkSource} entry @param {Search} search
 */
export function findCandidates(entry, { scopeAt, start, stop }) {
  const width = stop - start;
  /** @type {number[]} */
  const candidates = [];
  // Go from inner to outer expressions: an outer one can change twice within a sampling interval only around an
  // extremum of an inner one, which is found by then.
  for (const { tree, turns } of [...entry.pieces].reverse()) {
    /** @param {Tree} part @returns {Values} */
    const valueOf = (part) => (x) => evaluate(part, scopeAt(x));
    /** @type {number[]} */
    const turning = [];
    for (const turn of turns)
      turning.push(...(findChanges(valueOf(turn), start, stop, [...candidates, ...turning]) ?? []));
    const changing = findChanges(valueOf(tree), start, stop, [...candidates, ...turning]);
    if (!changing) return null;
    const isSign = typeof tree !== "number" && tree[1] === "sign";
    const signs = valueOf(tree)(Float64Array.from(turning));
    // Rounding can turn the single zero of a sign(…) into an interval of zeros.
    const touching = turning.filter((_, i) => isSign && signs[i] === 0);
    candidates.push(...touching, ...changing.filter((x) => !isNear(x, touching, MERGE_DISTANCE * width)));
  }
  return Float64Array.from(mergeClose(candidates, width).filter((x) => x >= start && x <= stop));
}

/** @param {number} x @param {number[]} positions @param {number} distance */
const isNear = (x, positions, distance) => positions.some((other) => Math.abs(x - other) <= distance);

/**
 * Find the x at which the mean of a stochastic formula may have further kinks: for an extreme random number, the
 * formula jumps there through y, g or the loss. Returns null if there are too many.
 * @param {Tree[]} trees the formulas @param {{op: Op, loss: Loss}} drawn @param {Search} search
 * @param {number[]} kinks positions to leave out
 */
export function findMeanKinks(trees, { op, loss }, search, kinks) {
  const pieces = trees.flatMap((tree) => getExtremePieces(tree, op, loss));
  const candidates = findCandidates({ tree: 0, pieces, slopes: { x: 0, y: 0 } }, search);
  const width = search.stop - search.start;
  return candidates && [...candidates].filter((x) => !isNear(x, kinks, MERGE_DISTANCE * width));
}

/**
 * Return the subexpressions of a stochastic formula, with extreme random numbers, at whose jumps its mean may have
 * kinks.
 * @param {Tree} tree @param {Op} op @param {Loss} loss @returns {Piece[]}
 */
function getExtremePieces(tree, op, loss) {
  const resolved = resolveTree(tree, op, loss);
  if (typeof resolved === "number") return [];
  const pieces =
    extremePieces.get(resolved) ??
    listPieces(tree).flatMap((piece) => substituteExtremes(resolveTree(piece, op, loss)));
  extremePieces.set(resolved, pieces);
  return pieces;
}

/** @param {Tree} tree @returns {Node[]} */
function listPieces(tree) {
  if (typeof tree === "number") return [];
  const ownPieces = listNodePieces(tree).filter((piece) =>
    listNames(piece).some((name) => INDIRECT_NAMES.includes(name)),
  );
  return [...getOperands(tree).flatMap(listPieces), ...ownPieces];
}

/**
 * Return expressions that change value wherever a node of an expression tree may have a kink.
 * @param {Node} node @returns {Node[]}
 */
function listNodePieces(node) {
  const sign = (/** @type {Tree} */ inner) => /** @type {Node} */ (["call", "sign", inner]);
  if (node[0] === "compare") {
    const [, , ...parts] = node;
    return parts.slice(1).map((right, i) => sign(["-", parts[i], right]));
  }
  if (node[0] === "/") return [sign(node[2])];
  if (node[0] === "**") return Number.isInteger(node[2]) && Number(node[2]) >= 0 ? [] : [sign(node[1])];
  if (node[0] !== "call") return [];
  const [, name, ...args] = node;
  const operand = Object.fromEntries(args.map((each, i) => ["abcd"[i], each]));
  return getSampling().functions[name].pieces.map(
    (piece) => /** @type {Node} */ (substituteTrees(piece, operand)),
  );
}

/** @param {Tree} tree @returns {Piece[]} */
const substituteExtremes = (tree) =>
  EXTREME_DRAWS.map((end) => substituteTrees(tree, end))
    .filter((at) => listNames(at).includes("x"))
    .map((at) => ({ tree: at, turns: [] }));

/** @param {Tree} tree @returns {string[]} */
function listNames(tree) {
  if (typeof tree === "number") return [];
  if (tree[0] === "name") return [tree[1]];
  return [...(tree[0] === "f" ? ["f()"] : []), ...getOperands(tree).flatMap(listNames)];
}

/**
 * Find every x at which a piecewise constant function changes value. Returns null if there are too many. The scan
 * extends one step beyond both ends of the range.
 * @param {Values} value @param {number} start @param {number} stop @param {number[]} extra further x to scan
 */
function findChanges(value, start, stop, extra) {
  const { scan, halvings, mostKinks } = getSampling();
  const step = (stop - start) / scan;
  const x = Float64Array.of(...makeEvenPoints(start - step, stop + step, scan), ...extra).sort();
  const values = replaceNaN(value(x));
  const cells = allocateCells(x.length);
  for (let i = 1; i < x.length; i += 1) addCell(cells, x[i - 1], x[i], values[i - 1], values[i]);
  /** @type {number[]} */
  const positions = [];
  let remaining = cells;
  for (let halving = 0; halving < halvings && remaining.count; halving += 1) {
    if (positions.length + remaining.count > 4 * mostKinks) return null;
    remaining = bisectCells(value, remaining, positions);
  }
  return mergeClose([...positions, ...remaining.high.subarray(0, remaining.count)], stop - start);
}

/**
 * Intervals of x from ``low`` to ``high``, with the different values of a function at these ends. ``count`` are in use.
 * @typedef {{count: number, low: Float64Array, high: Float64Array, before: Float64Array, after: Float64Array}} Cells
 */

/** @param {number} capacity maximum number of intervals @returns {Cells} */
function allocateCells(capacity) {
  const allocate = () => new Float64Array(capacity);
  return { count: 0, low: allocate(), high: allocate(), before: allocate(), after: allocate() };
}

/** @param {Cells} cells @param {[number, number, number, number]} cell */
function addCell(cells, ...[low, high, before, after]) {
  if (before === after) return;
  const { count } = cells;
  cells.low[count] = low;
  cells.high[count] = high;
  cells.before[count] = before;
  cells.after[count] = after;
  cells.count = count + 1;
}

/**
 * Bisect intervals, and return the halves at whose ends the function differs. If both ends are neighbouring floats, the
 * upper one is appended to ``ends`` instead.
 * @param {Values} value @param {Cells} cells @param {number[]} ends
 */
function bisectCells(value, { count, low, high, before, after }, ends) {
  const middles = new Float64Array(count);
  const divided = new Int32Array(count);
  let n = 0;
  for (let i = 0; i < count; i += 1) {
    const middle = (low[i] + high[i]) / 2;
    if (low[i] < middle && middle < high[i]) {
      middles[n] = middle;
      divided[n] = i;
      n += 1;
    } else ends.push(high[i]);
  }
  const middleValues = replaceNaN(value(middles.subarray(0, n)));
  const halves = allocateCells(2 * n);
  for (let k = 0; k < n; k += 1) {
    const i = divided[k];
    addCell(halves, low[i], middles[k], before[i], middleValues[k]);
    addCell(halves, middles[k], high[i], middleValues[k], after[i]);
  }
  return halves;
}

/** Replace NaN with Infinity, because NaN differs from itself. @param {Float64Array} values */
function replaceNaN(values) {
  return values.some(Number.isNaN) ? values.map((value) => (Number.isNaN(value) ? Infinity : value)) : values;
}

/**
 * Return a number in scientific notation with some decimals, with halves rounded to even like in Python.
 * @param {number} size @param {number} digits number of decimals
 */
function roundHalfToEven(size, digits) {
  const text = size.toExponential(digits);
  const last = 10 ** (Number(text.slice(text.indexOf("e") + 1)) - digits);
  // the decimal was not close to halfway between two rounded numbers
  if (Math.abs(Number(text) - size) < 0.4 * last) return text;
  const isHalf = /50{20}e/.test(size.toExponential(digits + 21));
  return isHalf ? text.replace(/[13579](?=e)/, (odd) => String(Number(odd) - 1)) : text;
}

/**
 * Sort positions, merge near duplicates, and round to short decimals if possible. A sign that changes at its zero and
 * right after it counts once.
 * @param {number[]} found @param {number} width width of the range
 */
function mergeClose(found, width) {
  /** @type {number[]} */
  const distinct = [];
  for (const x of found.sort((a, b) => a - b)) {
    const near = Math.max(1e-14 * width, 8 * getFloatSpacing(x));
    if (distinct.length && x - distinct[distinct.length - 1] <= near) continue;
    const short = Math.abs(x) > near ? Math.sign(x) * Number(roundHalfToEven(Math.abs(x), 6)) : 0;
    distinct.push((Math.abs(short - x) <= near ? short : x) + 0);
  }
  return distinct;
}

/** @param {KinkSource} entry @param {ScopeAt} scopeAt @param {OpSlope} opSlope @returns {Curve} */
function makeCurve(entry, scopeAt, opSlope) {
  return (x) => {
    const scope = scopeAt(x);
    const values = evaluate(entry.tree, scope);
    const slopes = evaluate(entry.slopes.x, scope);
    if (entry.slopes.y === 0) return { values, slopes };
    const indirect = opSlope(x, evaluate(entry.slopes.y, scope));
    return { values, slopes: slopes.map((slope, i) => slope + indirect[i]) };
  };
}

/**
 * Return the candidates at which the value or slope of a curve really jumps. If the neighbours are taken a hundred
 * times nearer, a smooth change shrinks in proportion, but a jump or corner does not. An x at which the slope keeps
 * growing is a kink too.
 * @param {Curve} curve @param {Float64Array} x candidates in ascending order @param {number} width width of the range
 * @param {boolean} torchs
 */
function selectKinks(curve, x, width, torchs) {
  const step = x.map((at, i) =>
    Math.max(32 * getFloatSpacing(at), Math.min(limitStep(x, i, width), 1e-10 * width)),
  );
  const wide = step.map((size) => 100 * size);
  const far = measureChanges(curve, x, wide, torchs);
  const near = measureChanges(curve, x, step, torchs);
  /**
   * Return whether a change nearly vanishes at the smaller distance, like that of a smooth curve.
   * @param {"jump"|"corner"} kind @param {number} i
   */
  const isFading = (kind, i) => near[kind][i] < far[kind][i] / 2 + 1e-300;
  const smooth = (/** @type {number} */ i) =>
    isFading("jump", i) && isFading("corner", i) && near.steep[i] <= 1.05 * far.steep[i] + 1e-300;
  return [...x].filter((_, i) => near.valued[i] && !smooth(i));
}

/**
 * Return the distance from a kink at which its two sides are compared, short enough to avoid the next kinks.
 * @param {Float64Array} x all kinks in ascending order @param {number} i @param {number} width
 */
function limitStep(x, i, width) {
  const before = i > 0 ? x[i] - x[i - 1] : width;
  const after = i + 1 < x.length ? x[i + 1] - x[i] : width;
  return Math.min(before, after) / 300;
}

/**
 * Return the changes of value and slope of a curve across each x, without rounding errors, and its steepness.
 * @param {Curve} curve @param {Float64Array} x @param {Float64Array} step distance to each side @param {boolean} torchs
 */
function measureChanges(curve, x, step, torchs) {
  const sides = [-1, 0, 1].map((side) => curve(x.map((at, i) => at + side * step[i])));
  const [left, middle, right] = sides;
  const { abs, max } = Math;
  /** @typedef {"values"|"slopes"} Name values or slopes of a curve */
  const getMax = (/** @type {Name} */ name, /** @type {number} */ i) =>
    max(...sides.map((side) => abs(side[name][i])));
  const clean = (/** @type {number} */ change, /** @type {number} */ size) =>
    Number.isFinite(change) && change <= 1e-11 * size ? 0 : change;
  /** @param {Sides} one @param {Sides} other @param {Name} name @param {number} i */
  const getDifference = (one, other, name, i) => abs(one[name][i] - other[name][i]);
  const measureCorner = (/** @type {number} */ i) =>
    max(getDifference(left, right, "slopes", i), torchs ? getDifference(middle, left, "slopes", i) : 0);
  return {
    jump: x.map((_, i) => {
      const jump = max(getDifference(left, middle, "values", i), getDifference(right, middle, "values", i));
      return clean(jump, getMax("values", i));
    }),
    corner: x.map((_, i) => clean(measureCorner(i), getMax("slopes", i))),
    steep: x.map((_, i) => max(abs(left.slopes[i]), abs(right.slopes[i]))),
    valued: Array.from(x, (_, i) => sides.some((side) => !Number.isNaN(side.values[i]))),
  };
}
