/**
 * Random numbers in formulas: detection, substitution by expressions in x, g, u() and normal(), and uniform numbers by
 * seed, bit for bit as in Python.
 * @typedef {object} Loss a differentiable function of the op's output y, such as (y − 0.45)²
 * @property {string} key the loss's key, which is its text @property {string} text @property {Tree} tree formula in y
 * @property {Tree} gradient formula of its derivative by y @property {import("./entry.js").Parameter[]} parameters
 */

import { DRAWS, NORMAL, getOperands, UNIFORM } from "./evaluation.js";

/** @import { Op, Rule } from "./entry.js" */
/** @import { Node, Tree } from "./evaluation.js" */

const LOSSES = ["f()", "fa()"];

/** @type {WeakMap<Node, boolean>} */
const drawCache = new WeakMap();

/** Return whether a formula has random numbers, or a loss or output for them. @param {Tree} tree @returns {boolean} */
export function hasDraw(tree) {
  if (typeof tree === "number") return false;
  const cached = drawCache.get(tree);
  if (cached !== undefined) return cached;
  const result =
    tree[0] === "name" ? DRAWS.includes(tree[1]) : tree[0] === "f" || getOperands(tree).some(hasDraw);
  drawCache.set(tree, result);
  return result;
}

/** Return whether a formula contains the loss: f(), fa() or f(…). @param {Tree} tree @returns {boolean} */
export function hasLoss(tree) {
  if (typeof tree === "number") return false;
  return tree[0] === "name" ? LOSSES.includes(tree[1]) : tree[0] === "f" || getOperands(tree).some(hasLoss);
}

/**
 * Return the first op or rule whose formula contains a random variable, or undefined.
 * @template {Op|Rule} E @param {E[]} entries
 */
export function findStochastic(entries) {
  return entries.find(({ tree }) => tree && hasDraw(tree));
}

/**
 * Replace names in an expression tree with other expression trees.
 * @param {Tree} tree @param {Record<string, Tree>} replacements trees by name
 * @param {(output: Tree) => Tree} [lossAt] returns the replacement of f(output) for an output @returns {Tree}
 */
export function substituteTrees(tree, replacements, lossAt) {
  if (typeof tree === "number") return tree;
  if (tree[0] === "name") return Object.hasOwn(replacements, tree[1]) ? replacements[tree[1]] : tree;
  const replacePart = (/** @type {*} */ part, /** @type {number} */ at) =>
    at >= tree.length - getOperands(tree).length ? substituteTrees(part, replacements, lossAt) : part;
  const replaced = /** @type {Node} */ (tree.map(replacePart));
  return replaced[0] === "f" && lossAt ? lossAt(replaced[1]) : replaced;
}

const [U, Z, G] = [UNIFORM, NORMAL, "g"].map((name) => /** @type {Node} */ (["name", name]));

/** @type {WeakMap<Node, WeakMap<Node, WeakMap<Loss, Tree>>>} */
const resolvedTrees = new WeakMap();

/**
 * Rewrite a rule's formula in x, the upstream gradient g and random numbers only. y is replaced by the op's formula,
 * and g is multiplied by the derivative of the loss. f() and f(…) become the loss times g; ya() and fa() become output
 * and loss for the random number 1 − u. Equal arguments return the same object, so that it is compiled once.
 * @param {Tree} tree a formula that may contain y, f(), f(…), ya() and fa() @param {Op} op @param {Loss} loss
 * @returns {Tree}
 */
export function resolveTree(tree, op, loss) {
  if (typeof tree === "number" || typeof op.tree === "number") return resolveUncached(tree, op.tree, loss);
  const ofTree = resolvedTrees.get(tree) ?? new WeakMap();
  resolvedTrees.set(tree, ofTree);
  const ofOp = ofTree.get(op.tree) ?? new WeakMap();
  ofTree.set(op.tree, ofOp);
  const resolved = ofOp.get(loss) ?? resolveUncached(tree, op.tree, loss);
  ofOp.set(loss, resolved);
  return resolved;
}

/** @param {Tree} tree @param {Tree} y the formula of the op @param {Loss} loss */
function resolveUncached(tree, y, loss) {
  const ya = substituteTrees(y, { [UNIFORM]: ["-", 1, U], [NORMAL]: ["-", Z] });
  const lossOf = (/** @type {Tree} */ output) =>
    /** @type {Node} */ (["*", G, substituteTrees(loss.tree, { y: output })]);
  const g = /** @type {Node} */ (["*", G, substituteTrees(loss.gradient, { y })]);
  return substituteTrees(tree, { y, g, "f()": lossOf(y), "ya()": ya, "fa()": lossOf(ya) }, lossOf);
}

const GOLDEN = 0x9e3779b9;
const RESOLUTION = 2 ** 24;

/** @param {number} bits */
function hashBits(bits) {
  let hash = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Return reproducible uniform random numbers in (0, 1), one for each element of a tensor. They are hashes of the
 * element's index and of ``which``, so that none need to be stored.
 * @param {number} elements their number
 * @param {{seed?: number, step?: number, layer?: number, draw?: number}} [which] the random stream: seed, training
 *   step, layer of the net, and call within the layer
 */
export function drawUniforms(elements, { seed = 0, step = 0, layer = 0, draw = 0 } = {}) {
  let key = 0;
  for (const part of [seed, step, layer, draw]) key = hashBits((key + part + GOLDEN) >>> 0);
  return Float64Array.from(
    { length: elements },
    (_, i) => ((hashBits(hashBits((i ^ key) >>> 0)) >>> 8) + 0.5) / RESOLUTION,
  );
}
