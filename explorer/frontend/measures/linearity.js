/** Where a rule is linear in g over a range: asked of its values, so of own formulas too. As in explorer/measures/maps.py. */

import { gradientOf } from "../formula/contribution.js";
import { rangeOf, scopeMaker, valuesOf } from "../formula/curves.js";
import { evaluate } from "../formula/evaluation.js";
import { listed } from "../formula/phrases.js";
import { numberText } from "../formula/numbers.js";

/** @import { Op, Rule } from "../formula/entry.js" */
/** @import { Choice } from "../formula/curves.js" */
/** @typedef {[number, number]} Stretch of x */

const OTHERS = [0.37, -1, -1.7, 1000]; // beside 1, of either sign and far from it
const [SCAN, OFF] = [601, 0.137]; // x that are looked at, and how far beside round numbers, as a part of a step
const ROUNDING = 1e-9;
const HALVINGS = 50;
const MOST_PLACES = 3;

/** Whether a rule is linear in g; null where that is not known. @param {Op} op @param {Rule} rule @param {Choice} choice */
export function isLinear(op, rule, choice) {
  const stretches = bentIn(op, rule, choice);
  return stretches && !stretches.length;
}

/**
 * The stretches of x where a rule is not linear in g, from the lowest on; one that goes on beyond the range ends where
 * that does. Null where it has no number at g = 1, or only torch knows it.
 * @param {Op} op
 * @param {Rule} rule
 * @param {Choice} choice
 * @returns {Stretch[]|null}
 */
export function bentIn(op, rule, choice) {
  const tree = gradientOf(op, rule, "");
  if (tree === null) return null;
  const [start, stop] = rangeOf(choice);
  const parameters = valuesOf(op, rule, choice.parameters);
  const scopes = [1, ...OTHERS].map((g) => scopeMaker(op, parameters, { start, stop, g }));
  const isBent = (/** @type {Float64Array} */ x) => {
    const [one, ...others] = scopes.map((scopeAt) => evaluate(tree, scopeAt(x)));
    return Array.from(
      one,
      (unit, i) => Number.isFinite(unit) && others.some((values, at) => isApart(values[i], unit, OTHERS[at])),
    );
  };
  const step = (stop - start) / SCAN;
  const x = Float64Array.from({ length: SCAN }, (_, i) => start + step * (i + OFF));
  if (!evaluate(tree, scopes[0](x)).some(Number.isFinite)) return null;
  const bent = isBent(x);
  const edges = bent.flatMap((is, i) => (i > 0 && is !== bent[i - 1] ? [i] : []));
  let low = Float64Array.from(edges, (i) => x[i - 1]);
  let high = Float64Array.from(edges, (i) => x[i]);
  for (let halving = 0; halving < HALVINGS && edges.length; halving += 1) {
    const middle = low.map((value, i) => (value + high[i]) / 2);
    const same = isBent(middle).map((is, i) => is === bent[edges[i] - 1]);
    low = low.map((value, i) => (same[i] ? middle[i] : value));
    high = high.map((value, i) => (same[i] ? value : middle[i]));
  }
  const ends = [...(bent[0] ? [start] : []), ...high, ...(bent[SCAN - 1] ? [stop] : [])];
  return Array.from({ length: ends.length / 2 }, (_, i) => [ends[2 * i], ends[2 * i + 1]]);
}

/** @param {number} value @param {number} unit @param {number} g */
function isApart(value, unit, g) {
  return !(Math.abs(value - g * unit) <= ROUNDING * Math.abs(g) * (1 + Math.abs(unit)));
}

/**
 * What a rule is, as to g.
 * @param {Stretch[]|null} stretches
 * @param {Stretch} span
 */
export function bentWords(stretches, span) {
  if (!stretches) return "not known over g here";
  if (!stretches.length) return "linear in g";
  const [first] = stretches;
  if (first[0] === span[0] && first[1] === span[1]) return "not linear in g anywhere here";
  if (stretches.length > MOST_PLACES) return `not linear in g on ${stretches.length} stretches of x`;
  return `not linear in g where ${listed(stretches.map((ends) => placeOf(ends, span)))}`;
}

/** @param {Stretch} ends @param {Stretch} span */
function placeOf([low, high], span) {
  const text = (/** @type {number} */ x) => numberText(Number(x.toFixed(9)) + 0).replace("-", "−");
  if (low === span[0]) return `x < ${text(high)}`;
  return high === span[1] ? `x > ${text(low)}` : `${text(low)} < x < ${text(high)}`;
}
