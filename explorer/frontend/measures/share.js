/** The mean size of a backward rule's gradient relative to the upstream gradient, as in explorer/gradient/share.py. */

import { getGradientTree } from "../formula/contribution.js";
import { getParameterValues } from "../formula/curves.js";
import { findStochastic } from "../formula/draws.js";
import { evaluate } from "../formula/evaluation.js";

/** @import { Op, Rule } from "../formula/entry.js" */
/** @typedef {{values: Float64Array, weights: Float64Array|null, count: number}} Numbers ``weights`` holds the multiplicity of each value, null for one each; ``count`` is the total count of numbers */

/**
 * Compute the mean of |rule(x, g)| ÷ |g| over the given numbers x, for one upstream gradient g.
 *
 * Reductions in formulas are taken over all numbers. Returns NaN if the result is not finite, and null if the op or
 * rule is stochastic or if only torch can evaluate the rule.
 * @param {Op} op
 * @param {Rule} rule
 * @param {Numbers} numbers
 * @param {Record<string, number>} settings
 * @param {number} g
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
