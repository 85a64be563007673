// The values of all curves at one x.

import { contributionOf, gradientOf } from "../../formula/contribution.js";
import { createScopeAt, getParameterValues } from "../../formula/curves.js";
import { evaluate } from "../../formula/evaluation.js";
import { findFirstAtLeast } from "../../formula/floats.js";
import { formatSubstituted } from "../../formula/substitution.js";

/**
 * ``slopes``: the forward's numerical slope, or at a kink the one on its left and the one on its right.
 * A gradient that only torch knows is undefined, and so is a part where the parameter cannot learn by a rule.
 * ``formulas`` are those of the rules with the numbers put in. Of what draws y and gradients are means, ``spread`` is the
 * standard deviation by "forward" and rule key, ``exact`` the gradient without bias.
 * @typedef {{x: number, y: number, slopes: number[], gradients: Object<string, number|undefined>,
 *   parts: Object<string, number|undefined>, formulas: Object<string, string>, spread?: Record<string, number>,
 *   exact?: number}} Values
 */

/** @import { Floats } from "../scene/jumps.js" */
/** @import { Rule } from "../../formula/entry.js" */

const STEP = 6e-6; // of x: where rounding and curvature disturb a central difference equally

/**
 * @param {import("../scene/picture.js").Picture} picture
 * @param {number} x
 * @returns {Values}
 */
export function valuesAt(picture, x) {
  return picture.curves.drawn ? meanValuesAt(picture, x) : plainValuesAt(picture, x);
}

/** The means of what draws: straight between those on display. @param {import("../scene/picture.js").Picture} picture @param {number} x @returns {Values} */
function meanValuesAt({ curves, rules, range: [start, stop] }, x) {
  const { drawn, kinks, parts = {} } = curves;
  const between = (/** @type {ArrayLike<number>|null|undefined} */ values, at = x, of = curves.x) =>
    values ? straightAt(of, values, at) : undefined;
  const each = (/** @type {Record<string, ArrayLike<number>|null>} */ some) =>
    Object.fromEntries(Object.entries(some).map(([key, values]) => [key, between(values)]));
  const forward = (/** @type {number[]} */ ...xs) =>
    Float64Array.from(xs, (at) => straightAt(curves.x, curves.y, at));
  const exact = drawn?.exact && !drawn.exact.isPast ? drawn.exact : null;
  return {
    ...{ x, y: forward(x)[0], gradients: each(curves.gradients), parts: each(parts) },
    formulas: Object.fromEntries(rules.map(({ key }) => [key, ""])),
    slopes: slopes(forward, x, stop - start, kinks.forward?.includes(x) ?? false),
    spread: /** @type {Record<string, number>} */ (each(drawn?.spread ?? {})),
    exact: between(exact?.y, x, exact?.x),
  };
}

/** A value on the straight line between two points of a curve. @param {Floats} x ascending @param {ArrayLike<number>} y @param {number} at */
function straightAt(x, y, at) {
  const behind = Math.min(Math.max(findFirstAtLeast(x, at), 1), x.length - 1);
  if (x[behind] === at) return y[behind];
  const share = (at - x[behind - 1]) / (x[behind] - x[behind - 1]);
  return y[behind - 1] + share * (y[behind] - y[behind - 1]);
}

/** @param {import("../scene/picture.js").Picture} picture @param {number} x @returns {Values} */
function plainValuesAt({ curves, op, rules, parameters, g, range: [start, stop], learns }, x) {
  const at = findFirstAtLeast(curves.x, x);
  const sampled = curves.x[at] === x;
  const scopeOf = (/** @type {Rule|null} */ entry) =>
    createScopeAt(op, getParameterValues(op, entry, parameters), { start, stop, g });
  const forward = (/** @type {number[]} */ ...xs) => evaluate(op.tree, scopeOf(null)(Float64Array.from(xs)));
  /** @type {Values} */
  const values = {
    x,
    y: sampled ? curves.y[at] : forward(x)[0],
    slopes: slopes(forward, x, stop - start, curves.kinks.forward?.includes(x) ?? false),
    gradients: {},
    parts: {},
    formulas: {},
  };
  for (const { key, entry } of rules) {
    const tree = gradientOf(op, entry, learns);
    const scope = scopeOf(entry)(Float64Array.of(x));
    const confirmed = sampled ? curves.gradients[key]?.[at] : undefined;
    values.gradients[key] = confirmed ?? (tree === null ? undefined : evaluate(tree, scope)[0]);
    values.formulas[key] = tree === null ? "" : formatSubstituted(tree, scope);
    const part = learns ? contributionOf(op, entry, learns) : null;
    values.parts[key] = part
      ? ((sampled ? curves.parts?.[key]?.[at] : undefined) ?? evaluate(part.tree, scope)[0])
      : undefined;
  }
  return values;
}

/**
 * @param {(...xs: number[]) => Float64Array} forward
 * @param {number} x
 * @param {number} width of the view
 * @param {boolean} kink whether x is one
 */
function slopes(forward, x, width, kink) {
  const step = Math.min(STEP * Math.max(1, Math.abs(x)), width / 100);
  const xs = (kink ? [-2, -1, 1, 2] : [-1, 1]).map((count) => x + count * step);
  const y = forward(...xs);
  return xs.flatMap((right, i) => (i % 2 ? [(y[i] - y[i - 1]) / (right - xs[i - 1])] : []));
}
