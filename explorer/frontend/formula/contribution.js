/**
 * The formula of one tensor element's contribution to the gradient of a parameter, as in
 * explorer/catalogue/contribution.py. The gradient is the sum of these contributions. The formula is taken from the
 * rule if it declares one; otherwise it follows from the rule or is torch's derivative of the op.
 * @typedef {"rule"|"follows"|"torch"} Origin where the formula comes from
 * @typedef {object} Contribution see above
 * @property {Origin} origin @property {Tree} tree the formula, in x, y, g and the parameters
 * @property {string} text the formula as text, or "" if the rule does not declare one
 * @property {Tree|null} scale the formula of the factor of the sum, in the parameters and the number of elements N;
 *   null for 1
 * @property {string} scaleText ``scale`` as text, or ""
 * @property {string} atBound a sentence about the gradient exactly at a bound, such as x = hi, or ""
 * @property {string} note a remark for the user, or ""
 * @property {KinkSource|null} watched a formula whose kinks must be searched; null if the kinks are those of the rule
 */

import { getOwn } from "./records.js";

/** @import { Op, Rule } from "./entry.js" */
/** @import { Tree } from "./evaluation.js" */
/** @import { KinkSource } from "./kinks.js" */

const PLAIN = { text: "", scale: null, scaleText: "", atBound: "", note: "", watched: null };

/** @type {WeakMap<Op, WeakMap<Rule, Map<string, Contribution|null>>>} */
const cache = new WeakMap();

/**
 * Return the formula of one element's contribution to a parameter's gradient, or null if the parameter cannot learn.
 * Equal arguments return the same object, so that the formula is compiled only once.
 * @param {Op} op @param {Rule} rule @param {string} name the parameter @returns {Contribution|null}
 */
export function findContribution(op, rule, name) {
  const ofOp = cache.get(op) ?? new WeakMap();
  cache.set(op, ofOp);
  const ofRule = ofOp.get(rule) ?? new Map();
  ofOp.set(rule, ofRule);
  if (!ofRule.has(name)) ofRule.set(name, deriveContribution(op, rule, name));
  return ofRule.get(name);
}

/** @param {Op} op @param {Rule} rule @param {string} name @returns {Contribution|null} */
function deriveContribution(op, rule, name) {
  const declared = getOwn(rule.learned, name);
  if (declared) {
    const { pieces, slopes, scaleText, ...rest } = declared;
    const watched = pieces && slopes ? { tree: declared.tree, pieces, slopes } : null;
    return { origin: "rule", ...rest, scaleText: scaleText ?? "", watched };
  }
  const following = getOwn(op.follows, name);
  if (following && rule.tree !== null)
    return { ...PLAIN, origin: "follows", tree: combineFollowing(following, rule.tree) };
  const derivative = getOwn(op.torch, name);
  return derivative ? { ...PLAIN, origin: "torch", ...derivative } : null;
}

/**
 * @param {{outer: Tree, ratio: Tree}} following how a contribution depends on the rule's gradient
 * @param {Tree} rule the formula of that gradient @returns {Tree}
 */
function combineFollowing({ outer, ratio }, rule) {
  if (ratio === 0) return outer;
  return outer === 0 ? ["*", rule, ratio] : ["+", outer, ["*", rule, ratio]];
}

/**
 * Return the formula of a backward rule's gradient for x. If the rule has none, return that of autograd's gradient of
 * the op. Returns null if neither has one.
 * @param {Op} op @param {Rule} rule @param {string} [learns] the parameter that learns as a tensor, or ""
 * @returns {Tree|null}
 */
export function getGradientTree(op, rule, learns = "") {
  return rule.tree ?? getOwn(op.torch, learns)?.gradient ?? op.gradient;
}

/**
 * Return the names of all parameters that at least one of the rules can train. Those of the op come first.
 * @param {Op} op @param {Rule[]} rules
 */
export function listLearnable(op, rules) {
  const names = [op, ...rules].flatMap((entry) => entry.parameters.map(({ name }) => name));
  return [...new Set(names)].filter((name) => rules.some((rule) => findContribution(op, rule, name)));
}
