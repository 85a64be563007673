/**
 * The share of straight-through's gradient that a rule passes on given numbers, as in explorer/gradient/share.py.
 */

import { gradientOf } from "../formula/contribution.js";
import { getParameterValues } from "../formula/curves.js";
import { findStochastic } from "../formula/draws.js";
import { evaluate } from "../formula/evaluation.js";

/** @import { Op, Rule } from "../formula/entry.js" */
/** @typedef {{values: Float64Array, weights: Float64Array|null, count: number}} Numbers ``weights`` says how often each value is there, null for once; ``count`` how many numbers there are in all */

/**
 * Mean |rule(x, g)| ÷ |g| over numbers, for one upstream gradient; NaN where it is not finite, null where only
 * torch knows the rule, or something is drawn. A mean in a formula is over the numbers.
 * @param {Op} op
 * @param {Rule} rule
 * @param {Numbers} numbers
 * @param {Record<string, number>} settings
 * @param {number} g
 * @returns {number|null}
 */
export function shareOf(op, rule, { values: x, weights, count }, settings, g) {
  const tree = gradientOf(op, rule, "");
  if (tree === null || findStochastic([op, rule])) return null;
  const parameters = getParameterValues(op, rule, settings);
  const y = evaluate(op.tree, { x, parameters });
  const gradient = evaluate(tree, { x, y, g, parameters });
  const sum = gradient.reduce((total, each, i) => total + Math.abs(each) * (weights?.[i] ?? 1), 0);
  const share = sum / (count * Math.abs(g));
  return Number.isFinite(share) ? share : NaN;
}
