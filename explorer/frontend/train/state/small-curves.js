// Curves of ops and rules for small pictures, sampled once. Stochastic ones are means.

import { sampleCurves } from "../../formula/curves.js";
import { hasLoss } from "../../formula/draws.js";

/** @import { Op, Rule } from "../../formula/entry.js" */
/** A point of a curve. @typedef {{x: number, y: number}} Point */

const CACHE_SIZE = 64;
const POINTS_OF_OP = 201;
const cache = /** @type {Map<string, Point[]>} */ (new Map());

/**
 * Return the output of an op at evenly spaced x.
 * @param {Op} op @param {Record<string, number>} parameters @param {[number, number]} ends the range of x
 * @returns {Point[]}
 */
export function sampleOp(op, parameters, ends) {
  return sampleCached(op, null, parameters, ends);
}

/**
 * Return the gradient of a rule for g = 1 over a range of x. Returns [] if the browser cannot compute it, or if it
 * depends on the loss of a net.
 * @param {Op|undefined} op @param {Rule|undefined} rule @param {Record<string, number>} parameters
 * @param {[number, number]} ends the range of x @returns {Point[]}
 */
export function sampleRule(op, rule, parameters, ends) {
  if (!op || !rule || (rule.tree && hasLoss(rule.tree))) return [];
  return sampleCached(op, rule, parameters, ends);
}

/**
 * @param {Op} op @param {Rule|null} rule the rule, or null for the op's curve
 * @param {Record<string, number>} parameters @param {[number, number]} ends the range of x @returns {Point[]}
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
