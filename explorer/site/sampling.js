// Numbers for Python in the browser: curves sampled as for the chart, and constants that Python cannot compute.

import { gradientOf } from "../frontend/formula/contribution.js";
import { beside } from "../frontend/formula/controls.js";
import { meansAt, rangeOf, sampleCurves, scopeMaker, valuesOf } from "../frontend/formula/curves.js";
import { evaluate } from "../frontend/formula/evaluation.js";
import { FUNCTIONS, OPERATORS } from "../frontend/formula/functions.js";
import { setSampling } from "../frontend/formula/sampling.js";

/** @typedef {import("../frontend/formula/entry.js").Rule} Rule */
/**
 * @typedef {{sampling: import("../frontend/formula/sampling.js").Sampling,
 *   op: import("../frontend/formula/entry.js").Op, rules: Rule[], torchs: Rule,
 *   loss: import("../frontend/formula/draws.js").Loss, choice: import("../frontend/formula/curves.js").Choice}} Asked
 *   ``torchs`` is torch's own rule
 */

/**
 * Curves as Python reads them: arrays by name, values at other x, and torch's own gradient.
 * @param {string} text JSON of Asked
 */
export function sampled(text) {
  const { sampling, op, rules, torchs, loss, choice } = /** @type {Asked} */ (JSON.parse(text));
  setSampling(sampling);
  const { x, marks, y, gradients, kinks, drawn } = sampleCurves({ op, rules }, { ...choice, loss });
  const [start, stop] = rangeOf(choice);

  /** @param {Rule|null} rule null for the op @param {Float64Array} at @param {number} g */
  function values(rule, at, g) {
    if (drawn) {
      const entries = { op, rules: rule ? [beside(op, rule)] : [] };
      const means = meansAt(entries, { ...choice, loss, g }, at, kinks.forward ?? []);
      return rule ? means.gradients[rule.key] : means.y;
    }
    const tree = rule ? gradientOf(op, rule, choice.learns) : op.tree;
    const scopeAt = scopeMaker(op, valuesOf(op, rule, choice.parameters), { start, stop, g });
    return tree === null ? null : evaluate(tree, scopeAt(at));
  }

  return {
    ...{ start, stop, x, marks, y },
    kinks: JSON.stringify(kinks),
    loss: drawn ? loss.text : "",
    gradient: (/** @type {string} */ key) => gradients[key],
    spread: (/** @type {string} */ key) => drawn?.spread[key],
    exact: drawn?.exact,
    at: (/** @type {string} */ key, /** @type {string} */ places) =>
      values(rules.find((rule) => rule.key === key) ?? null, Float64Array.from(JSON.parse(places)), choice.g),
    autograd: (/** @type {number} */ g) => values(torchs, x, g),
  };
}

/** The value of a function or operator by its name. @param {string} name @param {number[]} values */
export function computed(name, ...values) {
  return (FUNCTIONS[name] ?? OPERATORS[name])(...values);
}
