/**
 * The contribution of one element to the gradient for a parameter, as in explorer/catalogue/contribution.py: the
 * rule's own formula, otherwise a formula that follows from the rule, otherwise torch's derivative of the op.
 *
 * @typedef {"rule"|"follows"|"torch"} Origin
 *
 * @typedef {object} Contribution
 * @property {Origin} origin
 * @property {Tree} tree in x, y, g and parameters
 * @property {string} text the formula, or "" if it is not declared
 * @property {Tree|null} scale the factor of the sum, in parameters and N; null for 1
 * @property {string} scaleText
 * @property {string} atBound a sentence about the gradient exactly at a bound, or ""
 * @property {string} note
 * @property {KinkSource|null} watched the tree whose kinks must be searched, or null
 */

import { getOwn } from "./records.js";

/** @import { Op, Rule } from "./entry.js" */
/** @import { Tree } from "./evaluation.js" */
/** @import { KinkSource } from "./kinks.js" */

const PLAIN = { text: "", scale: null, scaleText: "", atBound: "", note: "", watched: null };

/** @type {WeakMap<Op, WeakMap<Rule, Map<string, Contribution|null>>>} */
const cache = new WeakMap();

/**
 * Return one element's contribution to the gradient of a parameter, or null if the parameter cannot learn. The same
 * arguments return the same object, so that its expression is compiled only once.
 * @param {Op} op @param {Rule} rule @param {string} name of the parameter @returns {Contribution|null}
 */
export function findContribution(op, rule, name) {
  const ofOp = cache.get(op) ?? new WeakMap();
  cache.set(op, ofOp);
  const ofRule = ofOp.get(rule) ?? new Map();
  ofOp.set(rule, ofRule);
  if (!ofRule.has(name)) ofRule.set(name, deriveContribution(op, rule, name));
  return ofRule.get(name);
}

/**
 * Derive an element's contribution to the gradient of a parameter.
 * @param {Op} op @param {Rule} rule @param {string} name @returns {Contribution|null}
 */
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
 * Return the expression tree of outer + rule · ratio.
 * @param {{outer: Tree, ratio: Tree}} following @param {Tree} rule @returns {Tree}
 */
function combineFollowing({ outer, ratio }, rule) {
  if (ratio === 0) return outer;
  return outer === 0 ? ["*", rule, ratio] : ["+", outer, ["*", rule, ratio]];
}

/**
 * Return the expression of a backward rule's gradient for x, or of autograd's if the rule has none.
 * @param {Op} op @param {Rule} rule @param {string} [learns] the parameter that learns as a tensor
 * @returns {Tree|null} null if it has no formula
 */
export function getGradientTree(op, rule, learns = "") {
  return rule.tree ?? getOwn(op.torch, learns)?.gradient ?? op.gradient;
}

/**
 * Return the names of the parameters that can learn by at least one of the rules, with the op's names first.
 * @param {Op} op @param {Rule[]} rules
 */
export function listLearnable(op, rules) {
  const names = [op, ...rules].flatMap((entry) => entry.parameters.map(({ name }) => name));
  return [...new Set(names)].filter((name) => rules.some((rule) => findContribution(op, rule, name)));
}
