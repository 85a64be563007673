// The curves of small pictures, kept: of an op, and of a rule beside it. Of what draws they are means.

import { sampleCurves } from "../../formula/curves.js";
import { hasLoss } from "../../formula/draws.js";

/** @import { Op, Rule } from "../../formula/entry.js" */
/** @typedef {{x: number, y: number}} Point */

const KEPT = 64;
const POINTS_OF_OP = 201;
const known = /** @type {Map<string, Point[]>} */ (new Map());

/**
 * The outputs of an op.
 * @param {Op} op
 * @param {Record<string, number>} parameters
 * @param {[number, number]} ends of x
 * @returns {Point[]}
 */
export function opCurve(op, parameters, ends) {
  return kept(op, null, parameters, ends);
}

/**
 * The gradient of a rule for g = 1; none where the browser does not know it, and where it hangs on the loss of a net.
 * @param {Op|undefined} op
 * @param {Rule|undefined} rule
 * @param {Record<string, number>} parameters
 * @param {[number, number]} ends of x
 * @returns {Point[]}
 */
export function ruleCurve(op, rule, parameters, ends) {
  if (!op || !rule || (rule.tree && hasLoss(rule.tree))) return [];
  return kept(op, rule, parameters, ends);
}

/**
 * @param {Op} op
 * @param {Rule|null} rule
 * @param {Record<string, number>} parameters
 * @param {[number, number]} ends
 * @returns {Point[]}
 */
function kept(op, rule, parameters, ends) {
  const key = JSON.stringify([op.key, rule?.key, parameters, ends]);
  const points = known.get(key) ?? pointsOf(op, rule, parameters, ends);
  if (known.size >= KEPT) known.clear();
  known.set(key, points);
  return points;
}

/** @type {typeof kept} */
function pointsOf(op, rule, parameters, [start, stop]) {
  const entries = { op, rules: rule ? [rule] : [] };
  const options = /** @type {const} */ ({ points: rule ? undefined : POINTS_OF_OP, pace: "quick" });
  const { x, y: outputs, gradients } = sampleCurves(entries, { start, stop, g: 1, parameters }, options);
  const y = rule ? gradients[rule.key] : outputs;
  return y ? Array.from(x, (at, index) => ({ x: at, y: y[index] })) : [];
}
