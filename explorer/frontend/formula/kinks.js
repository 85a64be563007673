/**
 * The kinks of a curve: declared by an entry, or searched where a piece of its formula changes. The same
 * search as in explorer/curves/kinks.py.
 *
 * @typedef {{tree: Tree, pieces: Piece[], slopes: {x: Tree, y: Tree}}} Watched an entry that declares no
 *   kinks
 * @typedef {(x: Float64Array) => Scope} ScopeAt
 * @typedef {(x: Float64Array) => Float64Array} Values
 * @typedef {(x: Float64Array, upstream: Float64Array) => Float64Array} OpSlope the op's derivative times it
 * @typedef {{scopeAt: ScopeAt, start: number, stop: number, opSlope: OpSlope, torchs: boolean}} Search a range with
 *   the op's functions on it; ``torchs``: the gradient is torch's own and may be another at one x than beside it
 * @typedef {{values: Float64Array, slopes: Float64Array}} Sides of a curve at given x
 * @typedef {(x: Float64Array) => Sides} Curve
 */

import { hasDraw, settledTree, withTrees } from "./draws.js";
import { constantValue, evaluate, NORMAL, operands, UNIFORM } from "./evaluation.js";
import { evenPoints, unit } from "./floats.js";
import { toEven } from "./python.js";
import { sampling } from "./sampling.js";

/** @import { Loss } from "./draws.js" */
/** @import { Entry, Lattice, Op, Piece } from "./entry.js" */
/** @import { Node, Scope, Tree } from "./evaluation.js" */

const NEAR = 1e-6; // of the range: what lies nearer is one kink
const THROUGH = ["y", "g", "ya()", "f()", "fa()"];
/** The least and the largest draw; beside a normal number so large nothing else is seen. @type {Record<string, Tree>[]} */
const ENDS = [
  { [UNIFORM]: 0, [NORMAL]: ["-", 1e300] },
  { [UNIFORM]: 1, [NORMAL]: 1e300 },
];

/** By the settled tree. @type {WeakMap<Node, Piece[]>} */
const ofEnds = new WeakMap();

/**
 * The kinks of an entry within a range, ascending; null for too many to be shown.
 * @param {Entry} entry
 * @param {Search} search
 * @param {Record<string, number>} parameters
 * @param {Float64Array|null} [candidates] of an entry that declares none, if they are known
 */
export function entryKinks(entry, search, parameters, candidates) {
  const { start, stop } = search;
  const all = entry.kinks
    ? declared(entry.kinks, parameters, start, stop)
    : kinksIn(/** @type {Watched} */ (entry), search, candidates);
  return all && few(all.filter((x) => x >= start && x <= stop));
}

/**
 * The kinks of an entry that declares none; of a mean over what is drawn, which bends where a piece changes for the
 * least or the largest draw, those that may be one.
 * @param {Watched} entry
 * @param {Search} search
 * @param {Float64Array|null} [candidates]
 */
function kinksIn(entry, search, candidates) {
  if (!hasDraw(entry.tree)) return searched(entry, search, candidates);
  const may = candidates === undefined ? candidatesOf(entry, search) : candidates;
  return may && [...may];
}

/** Ascending and distinct, null for too many. @param {number[]} found */
export function few(found) {
  const distinct = [...new Set(found)].sort((a, b) => a - b);
  return distinct.length <= sampling().mostKinks ? distinct : null;
}

/**
 * @param {(Tree|Lattice)[]} kinks
 * @param {Record<string, number>} parameters
 * @param {number} start
 * @param {number} stop
 */
function declared(kinks, parameters, start, stop) {
  const value = (/** @type {Tree} */ tree) => constantValue(tree, parameters);
  const found = [];
  for (const kink of kinks) {
    const isLattice = typeof kink !== "number" && "spacing" in kink;
    const points = isLattice ? latticePoints(kink, value, start, stop) : [value(kink)];
    if (!points) return null;
    found.push(...points);
  }
  return found;
}

/**
 * @param {Lattice} lattice
 * @param {(tree: Tree) => number} value
 * @param {number} start
 * @param {number} stop
 */
function latticePoints(lattice, value, start, stop) {
  const [offset, spacing] = [value(lattice.offset), value(lattice.spacing)];
  const low = lattice.low === null ? start : Math.max(start, value(lattice.low));
  const high = lattice.high === null ? stop : Math.min(stop, value(lattice.high));
  if (!(spacing > 0)) return [];
  if (!((high - low) / spacing <= sampling().mostKinks)) return null;
  const slack = 1e-9 * spacing;
  const points = [];
  for (let k = Math.ceil((low - offset - slack) / spacing); k * spacing <= high - offset + slack; k += 1) {
    points.push(offset + k * spacing);
  }
  return points;
}

/**
 * The kinks of a formula that declares none, ascending; null for too many.
 * @param {Watched} entry
 * @param {Search} search
 * @param {Float64Array|null} [candidates]
 */
export function searched(entry, search, candidates = candidatesOf(entry, search)) {
  const { scopeAt, start, stop, opSlope, torchs } = search;
  return candidates && bends(sidesOf(entry, scopeAt, opSlope), candidates, stop - start, torchs);
}

/**
 * The x where a piece of a formula changes, ascending; null for too many.
 * @param {Watched} entry
 * @param {Search} search
 */
export function candidatesOf(entry, { scopeAt, start, stop }) {
  const width = stop - start;
  /** @type {number[]} */
  const found = [];
  // Inner pieces first: where an outer one changes twice in a cell of the scan, an inner one turns between.
  for (const { tree, turns } of [...entry.pieces].reverse()) {
    /** @param {Tree} part @returns {Values} */
    const valueOf = (part) => (x) => evaluate(part, scopeAt(x));
    /** @type {number[]} */
    const turning = [];
    for (const turn of turns)
      turning.push(...(switches(valueOf(turn), start, stop, [...found, ...turning]) ?? []));
    const changing = switches(valueOf(tree), start, stop, [...found, ...turning]);
    if (!changing) return null;
    const isSign = typeof tree !== "number" && tree[1] === "sign";
    const signs = valueOf(tree)(Float64Array.from(turning));
    // A sign is 0 at its zero, of which rounding may have made a stretch.
    const touching = turning.filter((_, i) => isSign && signs[i] === 0);
    found.push(...touching, ...changing.filter((x) => !isNear(x, touching, NEAR * width)));
  }
  return Float64Array.from(apart(found, width).filter((x) => x >= start && x <= stop));
}

/** @param {number} x @param {number[]} positions @param {number} distance */
const isNear = (x, positions, distance) => positions.some((other) => Math.abs(x - other) <= distance);

/**
 * The x but those ``kinks`` where one of some trees switches with y, g or f at an end of what is drawn: its mean may
 * have a kink there. Null for too many.
 * @param {Tree[]} trees
 * @param {{op: Op, loss: Loss}} drawn
 * @param {Search} search
 * @param {number[]} kinks
 */
export function throughKinks(trees, { op, loss }, search, kinks) {
  const pieces = trees.flatMap((tree) => piecesAtEnds(tree, op, loss));
  const found = candidatesOf({ tree: 0, pieces, slopes: { x: 0, y: 0 } }, search);
  const width = search.stop - search.start;
  return found && [...found].filter((x) => !isNear(x, kinks, NEAR * width));
}

/** @param {Tree} tree @param {Op} op @param {Loss} loss @returns {Piece[]} */
function piecesAtEnds(tree, op, loss) {
  const whole = settledTree(tree, op, loss);
  if (typeof whole === "number") return [];
  const pieces = ofEnds.get(whole) ?? piecesIn(tree).flatMap((piece) => atEnds(settledTree(piece, op, loss)));
  ofEnds.set(whole, pieces);
  return pieces;
}

/** The parts of a tree that switch with what is drawn for y. @param {Tree} tree @returns {Node[]} */
function piecesIn(tree) {
  if (typeof tree === "number") return [];
  const own = piecesOf(tree).filter((piece) => names(piece).some((name) => THROUGH.includes(name)));
  return [...operands(tree).flatMap(piecesIn), ...own];
}

/** Trees that are constant where a node is smooth. @param {Node} node @returns {Node[]} */
function piecesOf(node) {
  const sign = (/** @type {Tree} */ inner) => /** @type {Node} */ (["call", "sign", inner]);
  if (node[0] === "compare") {
    const [, , ...parts] = node;
    return parts.slice(1).map((right, i) => sign(["-", parts[i], right]));
  }
  if (node[0] === "/") return [sign(node[2])];
  if (node[0] === "**") return isPower(node[2]) ? [] : [sign(node[1])];
  if (node[0] !== "call") return [];
  const [, name, ...given] = node;
  const operand = Object.fromEntries(given.map((each, i) => ["abcd"[i], each]));
  return sampling().functions[name].pieces.map((piece) => /** @type {Node} */ (withTrees(piece, operand)));
}

/** Whether an exponent makes a polynomial. @param {Tree} exponent */
const isPower = (exponent) => typeof exponent === "number" && Number.isInteger(exponent) && exponent >= 0;

/** @param {Tree} tree @returns {Piece[]} */
const atEnds = (tree) =>
  ENDS.map((end) => withTrees(tree, end))
    .filter((at) => names(at).includes("x"))
    .map((at) => ({ tree: at, turns: [] }));

/** All names in a tree; of a loss at an output the word ``f()``. @param {Tree} tree @returns {string[]} */
function names(tree) {
  if (typeof tree === "number") return [];
  if (tree[0] === "name") return [tree[1]];
  return [...(tree[0] === "f" ? ["f()"] : []), ...operands(tree).flatMap(names)];
}

/**
 * The x at which a piecewise constant function changes; null for too many. A step beyond both ends is scanned too.
 * @param {Values} value
 * @param {number} start
 * @param {number} stop
 * @param {number[]} also scanned
 */
function switches(value, start, stop, also) {
  const { scan, halvings, mostKinks } = sampling();
  const step = (stop - start) / scan;
  const x = Float64Array.of(...evenPoints(start - step, stop + step, scan), ...also).sort();
  const at = comparable(value(x));
  const cells = cellsFor(x.length);
  for (let i = 1; i < x.length; i += 1) add(cells, x[i - 1], x[i], at[i - 1], at[i]);
  /** @type {number[]} */
  const found = [];
  let left = cells;
  for (let halving = 0; halving < halvings && left.count; halving += 1) {
    if (found.length + left.count > 4 * mostKinks) return null;
    left = halved(value, left, found);
  }
  return apart([...found, ...left.high.subarray(0, left.count)], stop - start);
}

/**
 * Cells of x, each between ends at which a function has other values.
 * @typedef {{count: number, low: Float64Array, high: Float64Array, before: Float64Array, after: Float64Array}} Cells
 */

/** None yet, and room for so many. @param {number} most @returns {Cells} */
function cellsFor(most) {
  const room = () => new Float64Array(most);
  return { count: 0, low: room(), high: room(), before: room(), after: room() };
}

/** A cell more, where its ends differ. @param {Cells} cells @param {[number, number, number, number]} cell */
function add(cells, ...[low, high, before, after]) {
  if (before === after) return;
  const { count } = cells;
  cells.low[count] = low;
  cells.high[count] = high;
  cells.before[count] = before;
  cells.after[count] = after;
  cells.count = count + 1;
}

/**
 * Those halves of cells whose ends differ. The upper end of a cell between neighbouring floats goes to ``found``.
 * @param {Values} value
 * @param {Cells} cells
 * @param {number[]} found
 */
function halved(value, { count, low, high, before, after }, found) {
  const middles = new Float64Array(count);
  const divided = new Int32Array(count);
  let n = 0;
  for (let i = 0; i < count; i += 1) {
    const middle = (low[i] + high[i]) / 2;
    if (low[i] < middle && middle < high[i]) {
      middles[n] = middle;
      divided[n] = i;
      n += 1;
    } else found.push(high[i]);
  }
  const between = comparable(value(middles.subarray(0, n)));
  const halves = cellsFor(2 * n);
  for (let k = 0; k < n; k += 1) {
    const i = divided[k];
    add(halves, low[i], middles[k], before[i], between[k]);
    add(halves, middles[k], high[i], between[k], after[i]);
  }
  return halves;
}

/** Values with Infinity for NaN, which would differ from itself. @param {Float64Array} values */
function comparable(values) {
  return values.some(Number.isNaN) ? values.map((value) => (Number.isNaN(value) ? Infinity : value)) : values;
}

/**
 * Each x once and ascending, though a sign changes both at its zero and right after it; as short decimals.
 * @param {number[]} found
 * @param {number} width
 */
function apart(found, width) {
  /** @type {number[]} */
  const distinct = [];
  for (const x of found.sort((a, b) => a - b)) {
    const near = Math.max(1e-14 * width, 8 * unit(x));
    if (distinct.length && x - distinct[distinct.length - 1] <= near) continue;
    const short = Math.abs(x) > near ? Math.sign(x) * Number(toEven(Math.abs(x), 6)) : 0;
    distinct.push((Math.abs(short - x) <= near ? short : x) + 0);
  }
  return distinct;
}

/**
 * The values and slopes of an entry's curve at given x.
 * @param {Watched} entry
 * @param {ScopeAt} scopeAt
 * @param {OpSlope} opSlope
 * @returns {Curve}
 */
function sidesOf(entry, scopeAt, opSlope) {
  return (x) => {
    const scope = scopeAt(x);
    const values = evaluate(entry.tree, scope);
    const slopes = evaluate(entry.slopes.x, scope);
    if (entry.slopes.y === 0) return { values, slopes };
    const through = opSlope(x, evaluate(entry.slopes.y, scope));
    return { values, slopes: slopes.map((slope, i) => slope + through[i]) };
  };
}

/**
 * The x that are kinks of the curve itself: it has a value there, and value or slope differ on the two sides.
 * Seen from a hundredth of the distance a smooth change is a hundredth as large,
 * a jump or corner is not; where the slope grows on and on is a kink as well.
 * @param {Curve} curve
 * @param {Float64Array} x ascending
 * @param {number} width
 * @param {boolean} torchs
 */
function bends(curve, x, width, torchs) {
  const step = x.map((at, i) => Math.max(32 * unit(at), Math.min(spacing(x, i, width), 1e-10 * width)));
  const wide = step.map((size) => 100 * size);
  const far = changes(curve, x, wide, torchs);
  const near = changes(curve, x, step, torchs);
  /** @param {"jump"|"corner"} kind @param {number} i */
  const fades = (kind, i) => near[kind][i] < far[kind][i] / 2 + 1e-300;
  const smooth = (/** @type {number} */ i) =>
    fades("jump", i) && fades("corner", i) && near.steep[i] <= 1.05 * far.steep[i] + 1e-300;
  return [...x].filter((_, i) => near.valued[i] && !smooth(i));
}

/**
 * The distance from a kink at which its sides are compared; a hundred times it passes no neighbour.
 * @param {Float64Array} x
 * @param {number} i
 * @param {number} width
 */
function spacing(x, i, width) {
  const before = i > 0 ? x[i] - x[i - 1] : width;
  const after = i + 1 < x.length ? x[i + 1] - x[i] : width;
  return Math.min(before, after) / 300;
}

/**
 * The change of value and slope from one side of each x to the other, without rounding, and the steepness.
 * @param {Curve} curve
 * @param {Float64Array} x
 * @param {Float64Array} step
 * @param {boolean} torchs
 */
function changes(curve, x, step, torchs) {
  const sides = [-1, 0, 1].map((side) => curve(x.map((at, i) => at + side * step[i])));
  const [left, middle, right] = sides;
  const { abs, max } = Math;
  /** @typedef {"values"|"slopes"} Name */
  const largest = (/** @type {Name} */ name, /** @type {number} */ i) =>
    max(...sides.map((side) => abs(side[name][i])));
  const clean = (/** @type {number} */ change, /** @type {number} */ size) =>
    Number.isFinite(change) && change <= 1e-11 * size ? 0 : change;
  /** @param {Sides} one @param {Sides} other @param {Name} name @param {number} i */
  const between = (one, other, name, i) => abs(one[name][i] - other[name][i]);
  const corner = (/** @type {number} */ i) =>
    max(between(left, right, "slopes", i), torchs ? between(middle, left, "slopes", i) : 0);
  return {
    jump: x.map((_, i) => {
      const jump = max(between(left, middle, "values", i), between(right, middle, "values", i));
      return clean(jump, largest("values", i));
    }),
    corner: x.map((_, i) => clean(corner(i), largest("slopes", i))),
    steep: x.map((_, i) => max(abs(left.slopes[i]), abs(right.slopes[i]))),
    valued: Array.from(x, (_, i) => sides.some((side) => !Number.isNaN(side.values[i]))),
  };
}
