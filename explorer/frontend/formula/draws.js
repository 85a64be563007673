/**
 * What is drawn for an element, and what hangs on it: a rule as one tree in x, u() and normal(), and the numbers that
 * a seed draws, the same as in Python.
 *
 * @typedef {object} Loss of an output y
 * @property {string} key its text
 * @property {string} text
 * @property {Tree} tree
 * @property {Tree} gradient its derivative
 * @property {import("./entry.js").Parameter[]} parameters
 */

import { DRAWS, NORMAL, operands, UNIFORM } from "./evaluation.js";

/** @import { Op, Rule } from "./entry.js" */
/** @import { Node, Tree } from "./evaluation.js" */

const LOSSES = ["f()", "fa()"];

/** @type {WeakMap<Node, boolean>} */
const drawing = new WeakMap();

/** Whether a tree has a draw in it. @param {Tree} tree @returns {boolean} */
export function hasDraw(tree) {
  if (typeof tree === "number") return false;
  const known = drawing.get(tree);
  if (known !== undefined) return known;
  const found =
    tree[0] === "name" ? DRAWS.includes(tree[1]) : tree[0] === "f" || operands(tree).some(hasDraw);
  drawing.set(tree, found);
  return found;
}

/** Whether a tree hangs on a loss: that of the output, of the twin, or at an output that is named. @param {Tree} tree @returns {boolean} */
export function hasLoss(tree) {
  if (typeof tree === "number") return false;
  return tree[0] === "name" ? LOSSES.includes(tree[1]) : tree[0] === "f" || operands(tree).some(hasLoss);
}

/** The first of some ops and rules that draws, if one does. @template {Op|Rule} E @param {E[]} entries */
export function firstDrawn(entries) {
  return entries.find(({ tree }) => tree && hasDraw(tree));
}

/**
 * A tree with trees in the place of names.
 * @param {Tree} tree
 * @param {Record<string, Tree>} instead by name
 * @param {(output: Tree) => Tree} [lossAt] what stands in the place of the loss at an output
 * @returns {Tree}
 */
export function withTrees(tree, instead, lossAt) {
  if (typeof tree === "number") return tree;
  if (tree[0] === "name") return Object.hasOwn(instead, tree[1]) ? instead[tree[1]] : tree;
  const put = (/** @type {*} */ part, /** @type {number} */ at) =>
    at >= tree.length - operands(tree).length ? withTrees(part, instead, lossAt) : part;
  const whole = /** @type {Node} */ (tree.map(put));
  return whole[0] === "f" && lossAt ? lossAt(whole[1]) : whole;
}

const [U, Z, G] = [UNIFORM, NORMAL, "g"].map((name) => /** @type {Node} */ (["name", name]));

/** @type {WeakMap<Node, WeakMap<Node, WeakMap<Loss, Tree>>>} */
const settled = new WeakMap();

/**
 * A tree in x, y, g and draws as one in x, g, u() and normal(): y is the op's, g the loss's derivative times g, f() and
 * f(…) the loss times g, ya() and fa() are output and loss of the twin, drawn with 1 − u. One and the same object for
 * the same three, so that it is compiled once.
 * @param {Tree} tree
 * @param {Op} op
 * @param {Loss} loss
 * @returns {Tree}
 */
export function settledTree(tree, op, loss) {
  if (typeof tree === "number" || typeof op.tree === "number") return settle(tree, op.tree, loss);
  const ofTree = settled.get(tree) ?? new WeakMap();
  settled.set(tree, ofTree);
  const ofOp = ofTree.get(op.tree) ?? new WeakMap();
  ofTree.set(op.tree, ofOp);
  const known = ofOp.get(loss) ?? settle(tree, op.tree, loss);
  ofOp.set(loss, known);
  return known;
}

/** @param {Tree} tree @param {Tree} y @param {Loss} loss */
function settle(tree, y, loss) {
  const ya = withTrees(y, { [UNIFORM]: ["-", 1, U], [NORMAL]: ["-", Z] });
  const lossOf = (/** @type {Tree} */ output) =>
    /** @type {Node} */ (["*", G, withTrees(loss.tree, { y: output })]);
  const g = /** @type {Node} */ (["*", G, withTrees(loss.gradient, { y })]);
  return withTrees(tree, { y, g, "f()": lossOf(y), "ya()": ya, "fa()": lossOf(ya) }, lossOf);
}

const GOLDEN = 0x9e3779b9;
const SHARES = 2 ** 24;

/** A 32-bit number whose every bit hangs on all bits of another. @param {number} bits */
function mixed(bits) {
  let hash = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * The uniform numbers of so many elements at a step, from a hash: nothing has to be kept to draw them again.
 * @param {number} elements
 * @param {{seed?: number, step?: number, layer?: number, draw?: number}} [which]
 */
export function uniforms(elements, { seed = 0, step = 0, layer = 0, draw = 0 } = {}) {
  let key = 0;
  for (const part of [seed, step, layer, draw]) key = mixed((key + part + GOLDEN) >>> 0);
  return Float64Array.from(
    { length: elements },
    (_, i) => ((mixed(mixed((i ^ key) >>> 0)) >>> 8) + 0.5) / SHARES,
  );
}
