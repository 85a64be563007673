/**
 * A drawn rule: straight lines through points, from a stroke to a formula and back.
 *
 * @typedef {[number, number]} Point x and the gradient at g = 1
 * @typedef {{name: string, points: Point[], zero: boolean}} Drawing ``zero``: whether it is 0 outside its points
 * @typedef {[number, number]} Units of x and y, which are one px
 */

import { tidied } from "./numbers.js";

/** @import { Tree } from "./evaluation.js" */

export const MOST_POINTS = 16;
const [CLOSE, COARSER] = [0.007, 1.2]; // how far from the stroke, in heights; rounding adds to it
const DIGITS = 3;

/**
 * The line through the fewest points that follows a stroke as far as a formula allows.
 * @param {Point[]} stroke in the order of the hand, which may go back: what is drawn last counts
 * @param {Units} units
 * @param {number} height of the panel
 * @param {(points: Point[]) => boolean} fits whether a formula holds the points
 * @returns {Point[]} fewer than two of a stroke without width
 */
export function smoothed(stroke, units, height, fits) {
  const line = columnsOf(stroke, units[0]);
  for (let far = CLOSE * height; ; far *= COARSER) {
    const points = rounded(simplified(line, far), units);
    if (points.length <= 2 || (points.length <= MOST_POINTS && fits(points))) return points;
  }
}

/** The heights of a stroke by columns that are one px wide, ascending. @param {Point[]} stroke @param {number} unit @returns {Point[]} */
function columnsOf(stroke, unit) {
  /** @type {Map<number, number>} */
  const heights = new Map();
  stroke.forEach(([x, y], i) => {
    const [before, from] = stroke[Math.max(i - 1, 0)];
    const [start, stop] = [before, x].map((each) => Math.round(each / unit));
    const way = Math.sign(stop - start);
    for (let at = start; at !== stop; at += way)
      if (at !== start) heights.set(at, from + ((at - start) / (stop - start)) * (y - from));
    heights.set(stop, y);
  });
  return [...heights].sort(([one], [other]) => one - other).map(([at, y]) => [at * unit, y]);
}

/** Fewer points whose line is nowhere higher or lower by more than ``far``. @param {Point[]} line @param {number} far @returns {Point[]} */
function simplified(line, far) {
  if (line.length < 3) return line;
  const [first, last] = [line[0], line[line.length - 1]];
  const away = line.map(([x, y]) => Math.abs(y - heightAt([first, last], x)));
  const worst = away.indexOf(Math.max(...away));
  if (away[worst] <= far) return [first, last];
  return [...simplified(line.slice(0, worst + 1), far), ...simplified(line.slice(worst), far).slice(1)];
}

/** The height of a line at x; that of its nearer end outside. @param {Point[]} points @param {number} x */
export function heightAt(points, x) {
  const right = points.findIndex(([at]) => at >= x);
  if (right < 0) return points[points.length - 1][1];
  const [stop, y] = points[right];
  const [start, before] = points[Math.max(right - 1, 0)];
  return stop === x || start === stop ? y : before + ((x - start) / (stop - start)) * (y - before);
}

/** Points in numbers of few digits, their x ascending. @param {Point[]} points @param {Units} units @returns {Point[]} */
export function rounded(points, units) {
  let before = -Infinity;
  return points.map((point) => {
    const [x, y] = point.map((value, i) => short(tidied(value, units[i] / 2)));
    const digit = Math.floor(Math.log10(Math.abs(before) || 100 * units[0])) - DIGITS + 1;
    const least = before + 10 ** digit; // the next number of as many digits
    before = x > before ? x : short(least);
    return [before, y];
  });
}

/** @param {number} value */
const short = (value) => Number(value.toPrecision(DIGITS)) + 0;

/**
 * The right half of a line mirrored to the left; the left one where it has nothing to the right of 0.
 * @param {Point[]} points
 * @param {Units} units
 * @returns {Point[]}
 */
export function mirrored(points, units) {
  const side = points[points.length - 1][0] > 0 ? 1 : -1;
  const all = points
    .map(([x, y]) => /** @type {Point} */ ([side * x, y]))
    .sort(([one], [other]) => one - other);
  const middle = /** @type {Point} */ ([0, short(heightAt(all, 0))]);
  let half = [middle, ...all.filter(([x]) => x > 0)];
  for (let far = CLOSE; half.length > MOST_POINTS / 2; far *= COARSER) half = simplified(half, far);
  return rounded(
    [
      ...half
        .slice(1)
        .reverse()
        .map(([x, y]) => /** @type {Point} */ ([-x, y])),
      ...half,
    ],
    units,
  );
}

/** Whether a line is its own mirror image. @param {Point[]} points */
export const isSymmetric = (points) =>
  points.every(([x, y], i) => {
    const [twin, height] = points[points.length - 1 - i];
    return twin === -x && height === y;
  });

/** The formula of a drawing, without its name. @param {Drawing} drawing */
export function formulaOf({ points, zero }) {
  const [[first], [last]] = [points[0], points[points.length - 1]];
  return `g * through(x, ${points.flat().join(", ")})${zero ? ` * (x >= ${first}) * (x <= ${last})` : ""}`;
}

/** Its tree, as Python reads the formula. @param {Drawing} drawing @returns {Tree} */
export function treeOf({ points, zero }) {
  const x = /** @type {Tree} */ (["name", "x"]);
  const number = (/** @type {number} */ value) => /** @type {Tree} */ (value < 0 ? ["-", -value] : value);
  const lines = /** @type {Tree} */ (["through", points.map(([at]) => at), points.map(([, y]) => y), x]);
  const [[first], [last]] = [points[0], points[points.length - 1]];
  const inside = /** @type {Tree[]} */ ([
    ["compare", [">="], x, number(first)],
    ["compare", ["<="], x, number(last)],
  ]);
  const factors = zero ? [lines, ...inside] : [lines];
  return factors.reduce((tree, factor) => ["*", tree, factor], /** @type {Tree} */ (["name", "g"]));
}

/**
 * The drawing that a rule is; null for any other rule.
 * @param {{label: string, tree: Tree|null}} rule
 * @returns {Drawing|null}
 */
export function drawingOf({ label, tree }) {
  const text = JSON.stringify(tree);
  const [, x, y] = text.match(/^(?:\["\*",)+\["name","g"\],\["through",(\[[^\]]*\]),(\[[^\]]*\])/) ?? [];
  if (!x) return null;
  const heights = JSON.parse(y);
  const points = JSON.parse(x).map((/** @type {number} */ at, /** @type {number} */ i) => [at, heights[i]]);
  const drawings = [false, true].map((zero) => ({ name: label, points, zero }));
  return drawings.find((drawing) => JSON.stringify(treeOf(drawing)) === text) ?? null;
}
