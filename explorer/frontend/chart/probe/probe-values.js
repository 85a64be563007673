// The values of a chart's curves at one x.

import { findContribution, getGradientTree } from "../../formula/contribution.js";
import { createScopeAt, getParameterValues } from "../../formula/curves.js";
import { evaluate } from "../../formula/evaluation.js";
import { findFirstAtLeast } from "../../formula/floats.js";
import { formatSubstituted } from "../../formula/substitution.js";

/**
 * The values of a chart's curves at one x. ``slopes``: the numerical slope of the op, at a kink those on both sides;
 * ``gradients``: values by rule key, undefined if only torch can compute it; ``parts``: one element's contribution to a
 * parameter's gradient, undefined if the parameter cannot learn by the rule; ``formulas``: formulas with numbers
 * substituted. For stochastic ops and rules, values are means; ``spread``: standard deviations; ``exact``: the unbiased
 * gradient.
 * @typedef {{x: number, y: number, slopes: number[], gradients: Object<string, number|undefined>, parts: Object<string,
 *   number|undefined>, formulas: Object<string, string>, spread?: Record<string, number>, exact?: number}} Values
 */

/** @import { Tree } from "../../formula/evaluation.js" */
/** @import { Floats } from "../scene/jumps.js" */
/** @import { Rule } from "../../formula/entry.js" */

const STEP = 6e-6; // step of a central difference relative to x, which balances rounding and curvature errors

/**
 * Compute the values of all curves of a chart at one x.
 * @param {import("../scene/picture.js").Picture} picture @param {number} x @returns {Values}
 */
export function computeValues(picture, x) {
  return picture.curves.drawn ? interpolateMeans(picture, x) : evaluateValues(picture, x);
}

/**
 * Return values of stochastic ops and rules at one x, interpolated linearly between points of the mean curves.
 * @param {import("../scene/picture.js").Picture} picture @param {number} x @returns {Values}
 */
function interpolateMeans({ curves, rules, range: [start, stop] }, x) {
  const { drawn: stochastic, kinks, parts = {} } = curves;
  const interpolateValues = (
    /** @type {ArrayLike<number>|null|undefined} */ values,
    at = x,
    of = curves.x,
  ) => (values ? interpolateLinear(of, values, at) : undefined);
  const interpolateAll = (/** @type {Record<string, ArrayLike<number>|null>} */ some) =>
    Object.fromEntries(Object.entries(some).map(([key, values]) => [key, interpolateValues(values)]));
  const forward = (/** @type {number[]} */ ...xs) =>
    Float64Array.from(xs, (at) => interpolateLinear(curves.x, curves.y, at));
  const exact = stochastic?.exact && !stochastic.exact.isPast ? stochastic.exact : null;
  return {
    ...{ x, y: forward(x)[0], gradients: interpolateAll(curves.gradients), parts: interpolateAll(parts) },
    formulas: Object.fromEntries(rules.map(({ key }) => [key, ""])),
    slopes: measureSlopes(forward, x, stop - start, kinks.forward?.includes(x) ?? false),
    spread: /** @type {Record<string, number>} */ (interpolateAll(stochastic?.spread ?? {})),
    exact: interpolateValues(exact?.y, x, exact?.x),
  };
}

/** @param {Floats} x ascending @param {ArrayLike<number>} y @param {number} at the x at which to interpolate */
function interpolateLinear(x, y, at) {
  const right = Math.min(Math.max(findFirstAtLeast(x, at), 1), x.length - 1);
  if (x[right] === at) return y[right];
  const share = (at - x[right - 1]) / (x[right] - x[right - 1]);
  return y[right - 1] + share * (y[right] - y[right - 1]);
}

/**
 * Evaluate deterministic curves at one x. A curve with a sample at exactly this x keeps the sampled value.
 * @param {import("../scene/picture.js").Picture} picture @param {number} x @returns {Values}
 */
function evaluateValues({ curves, op, rules, parameters, g, range: [start, stop], learns }, x) {
  const at = findFirstAtLeast(curves.x, x);
  const sampled = curves.x[at] === x;
  const scopeOf = (/** @type {Rule|null} */ entry) =>
    createScopeAt(op, getParameterValues(op, entry, parameters), { start, stop, g });
  const forward = (/** @type {number[]} */ ...xs) => evaluate(op.tree, scopeOf(null)(Float64Array.from(xs)));
  /** @type {Values} */
  const values = {
    x,
    y: sampled ? curves.y[at] : forward(x)[0],
    slopes: measureSlopes(forward, x, stop - start, curves.kinks.forward?.includes(x) ?? false),
    gradients: {},
    parts: {},
    formulas: {},
  };
  for (const { key, entry } of rules) {
    const tree = getGradientTree(op, entry, learns);
    const scope = scopeOf(entry)(Float64Array.of(x));
    const confirmed = sampled ? curves.gradients[key]?.[at] : undefined;
    values.gradients[key] = confirmed ?? (tree === null ? undefined : evaluate(tree, scope)[0]);
    const product = /** @type {Tree} */ (["*", g, Number(values.gradients[key]) / g]);
    const shown = entry.formula || op.autograd !== "g · dy/dx" || !g ? tree : product;
    values.formulas[key] = shown === null ? "" : formatSubstituted(shown, scope);
    const part = learns ? findContribution(op, entry, learns) : null;
    values.parts[key] = part
      ? ((sampled ? curves.parts?.[key]?.[at] : undefined) ?? evaluate(part.tree, scope)[0])
      : undefined;
  }
  return values;
}

/**
 * Return the slope of the op's curve from central differences, or at a kink the one-sided slopes on both sides.
 * @param {(...xs: number[]) => Float64Array} forward evaluates the op @param {number} x
 * @param {number} width width of the visible range @param {boolean} isKink whether x is a kink
 */
function measureSlopes(forward, x, width, isKink) {
  const step = Math.min(STEP * Math.max(1, Math.abs(x)), width / 100);
  const xs = (isKink ? [-2, -1, 1, 2] : [-1, 1]).map((count) => x + count * step);
  const y = forward(...xs);
  return xs.flatMap((right, i) => (i % 2 ? [(y[i] - y[i - 1]) / (right - xs[i - 1])] : []));
}
