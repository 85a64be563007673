/**
 * Means and standard deviations over what a formula draws, at each x: by quantiles of u. Python computes exact ones.
 *
 * @typedef {{mean: Float64Array, spread: Float64Array}} Moments
 * @typedef {{u: Float64Array, z: Float64Array, weight: Float64Array}} Quantiles of u, the normal numbers that belong to
 *   them, and the share of each in a mean
 * @typedef {{x: Float64Array, g: number, parameters: Record<string, number>, reference?: import("./evaluation.js").Scope}}
 *   Place where a tree is evaluated
 */

import { hasDraw } from "./draws.js";
import { evaluate, isReduction, NORMAL, operands, UNIFORM } from "./evaluation.js";
import { ndtri } from "./normal.js";

/** @import { Tree } from "./evaluation.js" */

export const [FEW, MANY] = [255, 1023]; // quantiles while torch is asked or a hand moves, and where nobody is asked
const BLOCK = 4096; // points at a time, which stay in a processor's cache

/** @type {Map<number, Quantiles>} */
const known = new Map();

/** Quantiles at the middles of equal shares. @param {number} count */
export function evenQuantiles(count) {
  const found = known.get(count) ?? quantilesBetween([0, 1], count);
  known.set(count, found);
  return found;
}

/**
 * Quantiles at the middles of equal shares of each stretch between ends.
 * @param {number[]} ends ascending, from 0 to 1
 * @param {number} count of each stretch
 * @returns {Quantiles}
 */
export function quantilesBetween(ends, count) {
  const of = (/** @type {(low: number, width: number, share: number) => number} */ value) =>
    Float64Array.from({ length: (ends.length - 1) * count }, (_, at) => {
      const low = ends[Math.floor(at / count)];
      return value(low, ends[Math.floor(at / count) + 1] - low, ((at % count) + 0.5) / count);
    });
  const u = of((low, width, share) => low + width * share);
  return { u, z: u.map(ndtri), weight: of((_, width) => width / count) };
}

/**
 * The moments of trees in x, g, u() and normal(). What they have in common is evaluated once.
 * @param {Tree[]} trees
 * @param {Place} place
 * @param {Quantiles} quantiles
 * @returns {Moments[]} NaN for a mean over x of what is drawn
 */
export function momentsOf(trees, place, quantiles) {
  const moments = trees.map((tree) => {
    const mean = hasDraw(tree) ? new Float64Array(place.x.length).fill(NaN) : evaluate(tree, place);
    return { mean, spread: mean.map((value) => (Number.isFinite(value) ? 0 : NaN)) };
  });
  const { length } = quantiles.u;
  const drawing = trees.flatMap((tree, at) => (hasDraw(tree) && !isReduced(tree) ? [at] : []));
  const rows = Math.max(1, Math.floor(BLOCK / length));
  for (let first = 0; drawing.length && first < place.x.length; first += rows) {
    const some = place.x.subarray(first, first + rows);
    const x = new Float64Array(some.length * length);
    some.forEach((value, row) => x.fill(value, row * length, (row + 1) * length));
    const draws = { [UNIFORM]: tiled(quantiles.u, some.length), [NORMAL]: tiled(quantiles.z, some.length) };
    const scope = { ...place, x, draws, parts: new Map() };
    for (const at of drawing) addMoments(moments[at], evaluate(trees[at], scope), quantiles.weight, first);
  }
  return moments;
}

/** @param {Float64Array} values @param {number} times */
function tiled(values, times) {
  const all = new Float64Array(values.length * times);
  for (let row = 0; row < times; row += 1) all.set(values, row * values.length);
  return all;
}

/** @param {Moments} moments @param {Float64Array} values @param {Float64Array} weight @param {number} first its x */
function addMoments({ mean, spread }, values, weight, first) {
  for (let row = 0; row * weight.length < values.length; row += 1) {
    const from = row * weight.length;
    let [sum, square] = [0, 0];
    for (let at = 0; at < weight.length; at += 1) sum += weight[at] * values[from + at];
    for (let at = 0; at < weight.length; at += 1) square += weight[at] * (values[from + at] - sum) ** 2;
    mean[first + row] = sum;
    spread[first + row] = Math.sqrt(square);
  }
}

/** Whether a mean or another reduction is over what is drawn. @param {Tree} tree @returns {boolean} */
function isReduced(tree) {
  if (typeof tree === "number" || !hasDraw(tree)) return false;
  return isReduction(tree) || operands(tree).some(isReduced);
}
