/**
 * The antiderivative of a rule at g = 1: the function whose slope it is, so that a net learns as if the op were it.
 * Summed by three points of Gauss in each step between points that hold every kink with its neighbours, so that no
 * jump is smeared, and no kink itself is asked for a number.
 */

import { gradientOf } from "../formula/contribution.js";
import { rangeOf, scopeMaker, valuesOf } from "../formula/curves.js";
import { evaluate } from "../formula/evaluation.js";
import { firstNotBelow } from "../formula/floats.js";

/** @import { Op, Rule } from "../formula/entry.js" */
/** @typedef {Float64Array|Float32Array} Floats */
/**
 * ``y`` at each x, NaN where it cannot be summed; ``by`` is what the op has more than it, where that is one number
 * for all x, else null.
 * @typedef {{y: Float64Array, by: number|null}} Antiderivative
 */

const NODES = [0.5 - Math.sqrt(0.15), 0.5, 0.5 + Math.sqrt(0.15)]; // Gauss and Legendre's three, of an interval
const WEIGHTS = [5 / 18, 8 / 18, 5 / 18];
const BESIDE = 1e-9; // of x: on either side of the anchor
const CONSTANT = 1e-6; // of the size of the op: less is rounding

/** The x at which it meets the op: 0, or the middle of a range without 0. @param {[number, number]} range */
export function anchorOf([start, stop]) {
  return start <= 0 && stop >= 0 ? 0 : (start + stop) / 2;
}

/**
 * Null where only torch knows the rule.
 * @param {Op} op
 * @param {Rule} rule
 * @param {import("../formula/curves.js").Choice} choice
 * @param {{x: Floats, marks: ArrayLike<number>}} grid ascending x, 0 marks those that are no kink and beside none
 * @returns {Antiderivative|null}
 */
export function antiderivativeOf(op, rule, choice, { x, marks }) {
  const tree = gradientOf(op, rule, "");
  if (tree === null) return null;
  const [start, stop] = rangeOf(choice);
  const scopeAt = scopeMaker(op, valuesOf(op, rule, choice.parameters), { start, stop, g: 1 });
  const slope = (/** @type {Float64Array} */ at) => evaluate(tree, scopeAt(at));
  const forward = (/** @type {Float64Array} */ at) => evaluate(op.tree, scopeAt(at));
  const at = Float64Array.from(x);
  const total = summed(at, slope);
  const anchor = anchorOf([start, stop]);
  const before = Math.max(firstNotBelow(at, anchor) - 1, 0);
  const [, rest] = summed(Float64Array.of(at[before], anchor), slope);
  const side = BESIDE * Math.max(1, Math.abs(anchor));
  const sides = forward(Float64Array.of(anchor - side, anchor + side));
  const shift = (sides[0] + sides[1]) / 2 - total[before] - rest;
  const y = total.map((value) => value + shift);
  return { y, by: differenceOf(forward(at), y, marks) };
}

/** The integral from the first x to each. @param {Float64Array} x @param {(x: Float64Array) => Float64Array} slope */
function summed(x, slope) {
  const inside = NODES.map((share) => slope(x.slice(1).map((right, i) => x[i] + share * (right - x[i]))));
  const total = new Float64Array(x.length);
  for (let i = 1; i < x.length; i += 1) {
    const height = inside.reduce((sum, values, node) => sum + WEIGHTS[node] * values[i - 1], 0);
    total[i] = total[i - 1] + height * (x[i] - x[i - 1]);
  }
  return total;
}

/**
 * What one curve has more than another, where it is one number away from kinks.
 * @param {Float64Array} one
 * @param {Float64Array} other
 * @param {ArrayLike<number>} marks
 */
function differenceOf(one, other, marks) {
  let [low, high, size] = [Infinity, -Infinity, 1];
  for (let i = 0; i < one.length; i += 1) {
    if (marks[i]) continue;
    const apart = one[i] - other[i];
    if (!Number.isFinite(apart)) return null;
    [low, high] = [Math.min(low, apart), Math.max(high, apart)];
    size = Math.max(size, Math.abs(one[i]));
  }
  if (!(high - low <= CONSTANT * size)) return null;
  const middle = (low + high) / 2;
  return Math.abs(middle) <= CONSTANT * size ? 0 : middle;
}
