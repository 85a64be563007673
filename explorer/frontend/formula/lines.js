/**
 * Backward rules that the user draws by hand: a stroke of the pencil becomes straight lines between points, and these a
 * formula. A formula can be parsed back into its points.
 * @typedef {[number, number]} Point x and the gradient at g = 1
 * @typedef {{name: string, points: Point[], zero: boolean}} Drawing a drawn rule; ``zero``: whether its gradient is 0
 *   outside the points, otherwise it is constant there
 * @typedef {[number, number]} Units the x and y that correspond to one px
 */

import { makeLines } from "./evaluation.js";
import { roundToUnit } from "./numbers.js";

/** @import { Tree } from "./evaluation.js" */

export const MAX_POINTS = 16;
// the allowed distance from the stroke, as a fraction of the panel's height, and its growth per attempt
const [TOLERANCE, TOLERANCE_GROWTH] = [0.007, 1.2];
const ZERO_TOLERANCE = 0.01; // points that are as near to 0, as a fraction of the panel's height, are 0
const DIGITS = 3;
const FINE = /** @type {Units} */ ([1e-6, 1e-6]); // so small that mirroring does not round the points
const X = /** @type {Tree} */ (["name", "x"]);

/**
 * Fit a polyline with as few points as possible to a pencil stroke. The tolerance grows until the points fit into a
 * formula. Points near 0 are 0: Adam would learn from the wobble of a hand on the zero line.
 * @param {Point[]} stroke points in drawing order; where it goes back in x, later points replace earlier ones
 * @param {Units} units @param {number} height height of the panel in y
 * @param {(points: Point[]) => boolean} fits returns whether a formula with some points is short enough
 * @returns {Point[]} fewer than two points for a stroke without width
 */
export function fitLine(stroke, units, height, fits) {
  const line = collectColumns(stroke, units[0]);
  const near = ZERO_TOLERANCE * height;
  const snap = (/** @type {Point} */ [x, y]) => /** @type {Point} */ ([x, Math.abs(y) > near ? y : 0]);
  for (let tolerance = TOLERANCE * height; ; tolerance *= TOLERANCE_GROWTH) {
    const points = roundPoints(simplifyLine(simplifyLine(line, tolerance).map(snap), 0), units);
    if (points.length <= 2 || (points.length <= MAX_POINTS && fits(points))) return points;
  }
}

/** @param {Point[]} stroke @param {number} unit width of a column, in x @returns {Point[]} */
function collectColumns(stroke, unit) {
  /** @type {Map<number, number>} */
  const heights = new Map();
  stroke.forEach(([x, y], i) => {
    const [before, beforeY] = stroke[Math.max(i - 1, 0)];
    const [start, stop] = [before, x].map((each) => Math.round(each / unit));
    const direction = Math.sign(stop - start);
    for (let at = start; at !== stop; at += direction)
      if (at !== start) heights.set(at, beforeY + ((at - start) / (stop - start)) * (y - beforeY));
    heights.set(stop, y);
  });
  return [...heights].sort(([one], [other]) => one - other).map(([at, y]) => [at * unit, y]);
}

/**
 * Drop points from a polyline as long as it moves vertically by at most ``tolerance``.
 * @param {Point[]} line @param {number} tolerance @returns {Point[]}
 */
function simplifyLine(line, tolerance) {
  if (line.length < 3) return line;
  const chord = followPoints([line[0], line[line.length - 1]]);
  const distances = line.map(([x, y]) => Math.abs(y - chord(x)));
  const worst = distances.indexOf(Math.max(...distances));
  if (distances[worst] <= tolerance) return [line[0], line[line.length - 1]];
  const [left, right] = [line.slice(0, worst + 1), line.slice(worst)];
  return [...simplifyLine(left, tolerance), ...simplifyLine(right, tolerance).slice(1)];
}

/** Return the function of a line through points. It is constant beyond them. @param {Point[]} points */
export const followPoints = (points) => makeLines(...split(points));

/** @param {Point[]} points @returns {[number[], number[]]} */
const split = (points) => [points.map(([x]) => x), points.map(([, y]) => y)];

/**
 * Round the points of a drawn line to as few digits as the pixels of the screen require. Their x remain ascending.
 * @param {Point[]} points @param {Units} units @returns {Point[]}
 */
export function roundPoints(points, units) {
  let before = -Infinity;
  return points.map((point) => {
    const [x, y] = point.map((value, i) => roundDigits(roundToUnit(value, units[i] / 2)));
    const digit = Math.floor(Math.log10(Math.abs(before) || 100 * units[0])) - DIGITS + 1;
    const minX = before + 10 ** digit; // the smallest larger number with as many digits
    before = x > before ? x : roundDigits(minX);
    return [before, y];
  });
}

/** Round a number to three significant digits, without −0. @param {number} value */
const roundDigits = (value) => Number(value.toPrecision(DIGITS)) + 0;

/**
 * Make a line symmetric about x = 0: mirror its right half, or its left half if nothing is right of 0.
 * @param {Point[]} points @returns {Point[]}
 */
export function mirrorLine(points) {
  const flip = (/** @type {Point[]} */ line) =>
    line.map(([x, y]) => /** @type {Point} */ ([-x, y])).reverse();
  const all = points[points.length - 1][0] > 0 ? points : flip(points);
  let half = [/** @type {Point} */ ([0, roundDigits(followPoints(all)(0))]), ...all.filter(([x]) => x > 0)];
  for (let tolerance = TOLERANCE; half.length > MAX_POINTS / 2; tolerance *= TOLERANCE_GROWTH)
    half = simplifyLine(half, tolerance);
  return roundPoints([...flip(half.slice(1)), ...half], FINE);
}

/** Return whether a line is symmetric about x = 0. @param {Point[]} points */
export const isSymmetric = (points) =>
  points.every(([x, y], i) => {
    const [mirrorX, height] = points[points.length - 1 - i];
    return mirrorX === -x && height === y;
  });

/** Return the formula of a hand-drawn backward rule as text, like Python. @param {Omit<Drawing, "name">} drawing */
export function writeFormula({ points, zero }) {
  const numbers = points.flat().map(writeNumber);
  const inside = zero ? ` * (x >= ${numbers[0]}) * (x <= ${numbers.at(-2)})` : "";
  return `g * through(x, ${numbers.join(", ")})${inside}`;
}

/** Format a number like Python, such as 1e-06. @param {number} value */
function writeNumber(value) {
  const isPlain = !value || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e16);
  return isPlain ? String(value) : value.toExponential().replace(/(?<=e[+-])(?=\d$)/, "0");
}

/** Return the tree of a hand-drawn rule, equal to Python's parse. @param {Drawing} drawing @returns {Tree} */
export function makeDrawnTree({ points, zero }) {
  const [x, y] = split(points);
  const compare = (/** @type {string} */ sign, /** @type {number} */ end) => [
    "compare",
    [sign],
    X,
    end < 0 ? ["-", -end] : end,
  ];
  const inside = zero ? [compare(">=", x[0]), compare("<=", x[x.length - 1])] : [];
  return [["through", x, y, X], ...inside].reduce(
    (tree, factor) => ["*", tree, factor],
    /** @type {*} */ (["name", "g"]),
  );
}

/**
 * Return the drawn points in the formula of a rule, or null if the rule was not drawn by hand.
 * @param {{label: string, tree: Tree|null}} rule @returns {Drawing|null}
 */
export function parseDrawing({ label, tree }) {
  const text = JSON.stringify(tree);
  const [, x, y] = text.match(/^(?:\["\*",)+\["name","g"\],\["through",(\[[^\]]*\]),(\[[^\]]*\])/) ?? [];
  if (!x) return null;
  const heights = JSON.parse(y);
  const points = JSON.parse(x).map((/** @type {number} */ at, /** @type {number} */ i) => [at, heights[i]]);
  const drawings = [false, true].map((zero) => ({ name: label, points, zero }));
  return drawings.find((drawing) => JSON.stringify(makeDrawnTree(drawing)) === text) ?? null;
}
