/**
 * Means and standard deviations of stochastic formulas at each x, approximated with evenly spaced quantiles of the
 * uniform random number u. Python computes exact values.
 * @typedef {{mean: Float64Array, spread: Float64Array}} Moments ``spread``: standard deviations
 * @typedef {{u: Float64Array, z: Float64Array, weight: Float64Array}} Quantiles values of the uniform number u, the
 *   standard normal numbers z at the same quantiles, and the weight of each value in the mean
 * @typedef {{x: Float64Array, g: number, parameters: Record<string, number>, reference?:
 *   import("./evaluation.js").Scope}} Place the x, upstream gradient and parameters with which formulas are evaluated;
 *   ``reference``: as in ``Scope``
 */

import { hasDraw } from "./draws.js";
import { evaluate, isReduction, NORMAL, getOperands, UNIFORM } from "./evaluation.js";
import { ndtri } from "./normal.js";

/** @import { Tree } from "./evaluation.js" */

// numbers of quantiles: for a preview until Python answers, and for a final result without Python
export const [PREVIEW_QUANTILES, FINE_QUANTILES] = [255, 1023];
const BLOCK = 4096; // number of values computed at once; few enough for the processor's cache

/** @type {Map<number, Quantiles>} */
const cache = new Map();

/** Return evenly spaced quantiles of a uniform random number, cached by ``count``. @param {number} count */
export function makeEvenQuantiles(count) {
  const quantiles = cache.get(count) ?? makeQuantiles([0, 1], count);
  cache.set(count, quantiles);
  return quantiles;
}

/**
 * Return quantiles of a uniform random number, evenly spaced within each interval between ``ends``.
 * @param {number[]} ends numbers from 0 to 1 in ascending order
 * @param {number} count number of quantiles in each interval @returns {Quantiles}
 */
export function makeQuantiles(ends, count) {
  const fillEach = (/** @type {(low: number, width: number, share: number) => number} */ value) =>
    Float64Array.from({ length: (ends.length - 1) * count }, (_, at) => {
      const low = ends[Math.floor(at / count)];
      return value(low, ends[Math.floor(at / count) + 1] - low, ((at % count) + 0.5) / count);
    });
  const u = fillEach((low, width, share) => low + width * share);
  return { u, z: u.map(ndtri), weight: fillEach((_, width) => width / count) };
}

/**
 * Return the mean and standard deviation of stochastic expressions at each x. Common subexpressions are evaluated once.
 * @param {Tree[]} trees @param {Place} place @param {Quantiles} quantiles
 * @returns {Moments[]} one for each tree; NaN for a reduction of random values, such as mean(u())
 */
export function computeMoments(trees, place, quantiles) {
  const moments = trees.map((tree) => {
    const mean = hasDraw(tree) ? new Float64Array(place.x.length).fill(NaN) : evaluate(tree, place);
    return { mean, spread: mean.map((value) => (Number.isFinite(value) ? 0 : NaN)) };
  });
  const { length } = quantiles.u;
  const stochastic = trees.flatMap((tree, at) => (hasDraw(tree) && !hasReducedDraw(tree) ? [at] : []));
  const rows = Math.max(1, Math.floor(BLOCK / length));
  for (let first = 0; stochastic.length && first < place.x.length; first += rows) {
    const block = place.x.subarray(first, first + rows);
    const x = new Float64Array(block.length * length);
    block.forEach((value, row) => x.fill(value, row * length, (row + 1) * length));
    const draws = {
      [UNIFORM]: repeatValues(quantiles.u, block.length),
      [NORMAL]: repeatValues(quantiles.z, block.length),
    };
    const scope = { ...place, x, draws, parts: new Map() };
    for (const at of stochastic)
      fillMoments(moments[at], evaluate(trees[at], scope), quantiles.weight, first);
  }
  return moments;
}

/** Return copies of an array, one after another. @param {Float64Array} values @param {number} times their number */
function repeatValues(values, times) {
  const all = new Float64Array(values.length * times);
  for (let row = 0; row < times; row += 1) all.set(values, row * values.length);
  return all;
}

/**
 * Fill in the mean and standard deviation at several x, from the values at each quantile.
 * @param {Moments} moments @param {Float64Array} values @param {Float64Array} weight the weight of each quantile
 * @param {number} first index of the first x
 */
function fillMoments({ mean, spread }, values, weight, first) {
  for (let row = 0; row * weight.length < values.length; row += 1) {
    const offset = row * weight.length;
    let [sum, square] = [0, 0];
    for (let at = 0; at < weight.length; at += 1) sum += weight[at] * values[offset + at];
    for (let at = 0; at < weight.length; at += 1) square += weight[at] * (values[offset + at] - sum) ** 2;
    mean[first + row] = sum;
    spread[first + row] = Math.sqrt(square);
  }
}

/**
 * Return whether an expression reduces random values to one number, as in mean(u()).
 * @param {Tree} tree @returns {boolean}
 */
function hasReducedDraw(tree) {
  if (typeof tree === "number" || !hasDraw(tree)) return false;
  return isReduction(tree) || getOperands(tree).some(hasReducedDraw);
}
