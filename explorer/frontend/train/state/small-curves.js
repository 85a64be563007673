// Samples the curves of ops and backward rules for small previews, and caches them. Stochastic curves are averaged.

import { sampleCurves } from "../../formula/curves.js";
import { hasLoss } from "../../formula/draws.js";

/** @import { Op, Rule } from "../../formula/entry.js" */
/** @typedef {{x: number, y: number}} Point */

const CACHE_SIZE = 64;
const POINTS_OF_OP = 201;
const cache = /** @type {Map<string, Point[]>} */ (new Map());

/**
 * Sample an op's output at evenly spaced x values.
 * @param {Op} op
 * @param {Record<string, number>} parameters
 * @param {[number, number]} ends of x
 * @returns {Point[]}
 */
export function sampleOp(op, parameters, ends) {
  return sampleCached(op, null, parameters, ends);
}

/**
 * Sample a backward rule's gradient for an upstream gradient of 1. The result is empty if the browser cannot compute
 * the gradient or if it depends on a net's loss.
 * @param {Op|undefined} op
 * @param {Rule|undefined} rule
 * @param {Record<string, number>} parameters
 * @param {[number, number]} ends of x
 * @returns {Point[]}
 */
export function sampleRule(op, rule, parameters, ends) {
  if (!op || !rule || (rule.tree && hasLoss(rule.tree))) return [];
  return sampleCached(op, rule, parameters, ends);
}

/**
 * Return a curve from the cache. It is sampled first if it is missing.
 * @param {Op} op
 * @param {Rule|null} rule null for the curve of the op
 * @param {Record<string, number>} parameters
 * @param {[number, number]} ends
 * @returns {Point[]}
 */
function sampleCached(op, rule, parameters, ends) {
  const key = JSON.stringify([op.key, rule?.key, parameters, ends]);
  const points = cache.get(key) ?? samplePoints(op, rule, parameters, ends);
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(key, points);
  return points;
}

/** @type {typeof sampleCached} */
function samplePoints(op, rule, parameters, [start, stop]) {
  const entries = { op, rules: rule ? [rule] : [] };
  const options = /** @type {const} */ ({ points: rule ? undefined : POINTS_OF_OP, pace: "quick" });
  const { x, y: outputs, gradients } = sampleCurves(entries, { start, stop, g: 1, parameters }, options);
  const y = rule ? gradients[rule.key] : outputs;
  return y ? Array.from(x, (at, index) => ({ x: at, y: y[index] })) : [];
}
