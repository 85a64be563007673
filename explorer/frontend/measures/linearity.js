/** Whether a rule is linear in g over a range: asked of its values, so of own formulas too. */

import { gradientOf } from "../formula/contribution.js";
import { rangeOf, scopeMaker, valuesOf } from "../formula/curves.js";
import { evaluate } from "../formula/evaluation.js";
import { evenPoints } from "../formula/floats.js";

/** @import { Op, Rule } from "../formula/entry.js" */

const POINTS = 101;
const OTHERS = [0.37, -1.7, 1000]; // of either sign, far from 1, and no power of two
const ROUNDING = 1e-9;

/**
 * Null where only torch knows the rule.
 * @param {Op} op
 * @param {Rule} rule
 * @param {import("../formula/curves.js").Choice} choice
 * @returns {boolean|null}
 */
export function isLinear(op, rule, choice) {
  const tree = gradientOf(op, rule, "");
  if (tree === null) return null;
  const [start, stop] = rangeOf(choice);
  const x = evenPoints(start, stop, POINTS);
  const parameters = valuesOf(op, rule, choice.parameters);
  const at = (/** @type {number} */ g) => evaluate(tree, scopeMaker(op, parameters, { start, stop, g })(x));
  const one = at(1);
  const alike = (/** @type {number} */ value, /** @type {number} */ unit, /** @type {number} */ g) =>
    Math.abs(value - g * unit) <= ROUNDING * Math.abs(g) * (1 + Math.abs(unit));
  return OTHERS.every((g) => at(g).every((value, i) => !Number.isFinite(one[i]) || alike(value, one[i], g)));
}
