/**
 * The contribution of one element to the gradient for a parameter. As in explorer/catalogue/contribution.py: the
 * rule's own formula, else the one that follows from the rule, else torch's derivative of the op.
 *
 * @typedef {"rule"|"follows"|"torch"} Origin
 *
 * @typedef {object} Contribution
 * @property {Origin} origin
 * @property {Tree} tree in x, y, g and parameters
 * @property {string} text the formula, where it is written out
 * @property {Tree|null} scale the factor of the sum, in parameters and N; null for 1
 * @property {string} scaleText
 * @property {string} atBound a sentence on who has g exactly at a bound, or ""
 * @property {string} note
 * @property {Watched|null} watched where its kinks have to be searched for
 */

import { constantValue } from "./evaluation.js";
import { held } from "./records.js";

/** @import { Op, Rule } from "./entry.js" */
/** @import { Tree } from "./evaluation.js" */
/** @import { Watched } from "./kinks.js" */

const PLAIN = { text: "", scale: null, scaleText: "", atBound: "", note: "", watched: null };

/** @type {WeakMap<Op, WeakMap<Rule, Map<string, Contribution|null>>>} */
const known = new WeakMap();

/**
 * The contribution to the gradient for a parameter; null where it cannot learn. One and the same object for
 * the same three, so that its tree is compiled once.
 * @param {Op} op
 * @param {Rule} rule
 * @param {string} name of the parameter
 * @returns {Contribution|null}
 */
export function contributionOf(op, rule, name) {
  const ofOp = known.get(op) ?? new WeakMap();
  known.set(op, ofOp);
  const ofRule = ofOp.get(rule) ?? new Map();
  ofOp.set(rule, ofRule);
  if (!ofRule.has(name)) ofRule.set(name, derived(op, rule, name));
  return ofRule.get(name);
}

/** @param {Op} op @param {Rule} rule @param {string} name @returns {Contribution|null} */
function derived(op, rule, name) {
  const own = held(rule.learned, name);
  if (own) {
    const { pieces, slopes, scaleText, ...rest } = own;
    const watched = pieces && slopes ? { tree: own.tree, pieces, slopes } : null;
    return { origin: "rule", ...rest, scaleText: scaleText ?? "", watched };
  }
  const through = held(op.follows, name);
  if (through && rule.tree !== null)
    return { ...PLAIN, origin: "follows", tree: followed(through, rule.tree) };
  const torchs = held(op.torch, name);
  return torchs ? { ...PLAIN, origin: "torch", ...torchs } : null;
}

/** The contribution outer + rule · ratio. @param {{outer: Tree, ratio: Tree}} way @param {Tree} rule @returns {Tree} */
function followed({ outer, ratio }, rule) {
  if (ratio === 0) return outer;
  return outer === 0 ? ["*", rule, ratio] : ["+", outer, ["*", rule, ratio]];
}

/**
 * The gradient for x by a rule; torch's own where the rule has none, beside what learns as a tensor.
 * @param {Op} op
 * @param {Rule} rule
 * @param {string} [learns] the parameter that learns
 * @returns {Tree|null} null where it cannot be written out
 */
export function gradientOf(op, rule, learns = "") {
  return rule.tree ?? held(op.torch, learns)?.gradient ?? op.gradient;
}

/**
 * The parameters that can learn by at least one of the rules, those of the op first.
 * @param {Op} op
 * @param {Rule[]} rules
 */
export function learnable(op, rules) {
  const names = [op, ...rules].flatMap((entry) => entry.parameters.map(({ name }) => name));
  return [...new Set(names)].filter((name) => rules.some((rule) => contributionOf(op, rule, name)));
}

/**
 * The factor of a sum over so many elements.
 * @param {Contribution} contribution
 * @param {Record<string, number>} parameters
 * @param {number} elements
 */
export function factorOf({ scale }, parameters, elements) {
  return scale === null ? 1 : constantValue(scale, { ...parameters, N: elements });
}
