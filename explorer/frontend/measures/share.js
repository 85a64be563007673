/** The share of a rule: its mean gradient size relative to the upstream gradient, as in explorer/gradient/share.py. */

import { getGradientTree } from "../formula/contribution.js";
import { getParameterValues } from "../formula/curves.js";
import { findStochastic } from "../formula/draws.js";
import { evaluate } from "../formula/evaluation.js";

/** @import { Op, Rule } from "../formula/entry.js" */
/**
 * Inputs x. ``weights``: how often each value occurs, null if once; ``count``: the total number.
 * @typedef {{values: Float64Array, weights: Float64Array|null, count: number}} Numbers
 */

/**
 * Return the mean of |gradient| ÷ |g| over inputs x, for one upstream gradient g. Reductions such as mean(…) in
 * formulas are taken over all inputs. Returns NaN if the result is not finite, and null if the op or rule is stochastic
 * or only torch can evaluate it.
 * @param {Op} op @param {Rule} rule @param {Numbers} numbers
 * @param {Record<string, number>} settings parameter values by control name @param {number} g the upstream gradient
 * @returns {number|null}
 */
export function computeShare(op, rule, { values: x, weights, count }, settings, g) {
  const tree = getGradientTree(op, rule, "");
  if (tree === null || findStochastic([op, rule])) return null;
  const parameters = getParameterValues(op, rule, settings);
  const y = evaluate(op.tree, { x, parameters });
  const gradient = evaluate(tree, { x, y, g, parameters });
  const sum = gradient.reduce((total, each, i) => total + Math.abs(each) * (weights?.[i] ?? 1), 0);
  const share = sum / (count * Math.abs(g));
  return Number.isFinite(share) ? share : NaN;
}
