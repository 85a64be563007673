/**
 * A formula's tree to numbers: each distinct part is computed once, over a whole array of x.
 *
 * @typedef {number | Node} Tree nested lists as Python's Formula.data gives them
 * @typedef {["name", string] | Call | Comparison | Points | LossAt | ["~" | "-", Tree] | [Operator, Tree, Tree]} Node
 * @typedef {["call", string, ...Tree[]]} Call
 * @typedef {["compare", string[], ...Tree[]]} Comparison a chain: one sign fewer than trees
 * @typedef {["points"|"through", number[], (number|null)[], Tree]} Points straight between points; beyond them constant
 *   of "through", NaN of "points", a function that is no formula
 * @typedef {["f", Tree]} LossAt the loss at an output other than the one drawn
 * @typedef {"+" | "-" | "*" | "/" | "**" | "&" | "|"} Operator
 * @typedef {(values: Value[], scope: Scope) => Value} Step from the values of earlier steps
 * @typedef {object} Scope
 * @property {Float64Array} x
 * @property {Value} [y] the op's forward values at x
 * @property {Value} [g] the upstream gradient
 * @property {Record<string, Value>} [draws] by the names that a formula has for them; normal() follows from u()
 * @property {Record<string, number>} parameters
 * @property {Map<string, Value>} [parts] of several trees at this one scope: what they have in common is computed once
 * @property {Scope} [reference] where every mean(…) is taken over, and every other reduction; without one, x
 *   itself
 */

import { FUNCTIONS, OPERATORS, PYTHON, REDUCTIONS, toThe } from "./functions.js";
import { mapped, negative, overEach } from "./loops.js";
import { ndtri } from "./normal.js";
import { held } from "./records.js";

/** @import { Scalar } from "./functions.js" */
/** @import { Value } from "./loops.js" */

const CONSTANTS = { pi: Math.PI, e: Math.E };
const NOWHERE = new Float64Array(0);
export const [UNIFORM, NORMAL] = ["u()", "normal()"];
/** Draws without a number: what hangs on them is none. @type {Record<string, number>} */
const NO_DRAWS = { "u()": NaN, "f()": NaN, "ya()": NaN, "fa()": NaN };
/** Of a draw: the uniform and the normal number, the loss of its output, and output and loss of its twin. */
export const DRAWS = [UNIFORM, NORMAL, "f()", "ya()", "fa()"];

/** @type {WeakMap<Node, (scope: Scope) => Value>} */
const compiled = new WeakMap();
/** Reductions over references, which a search for kinks asks for again and again. @type {WeakMap<Scope, Map<string, number>>} */
const reduced = new WeakMap();

/**
 * The values of a tree at every x of the scope.
 * @param {Tree} tree
 * @param {Scope} scope
 * @returns {Float64Array}
 */
export function evaluate(tree, scope) {
  const value = calculated(tree, scope);
  return typeof value === "number" ? new Float64Array(scope.x.length).fill(value) : value;
}

/**
 * The one value of a tree without x, y and g.
 * @param {Tree} tree
 * @param {Record<string, number>} parameters
 */
export const constantValue = (tree, parameters) =>
  /** @type {number} */ (calculated(tree, { x: NOWHERE, parameters }));

/** @param {Tree} tree @param {Scope} scope @returns {Value} */
function calculated(tree, scope) {
  if (typeof tree === "number") return tree;
  let program = compiled.get(tree);
  if (!program) compiled.set(tree, (program = compile(tree)));
  return program(scope);
}

/** The operands of a node; its head is the rest. @param {Tree} node @returns {Tree[]} */
export function operands(node) {
  if (typeof node === "number" || node[0] === "name") return [];
  if (node[0] === "points" || node[0] === "through") return [node[3]];
  return /** @type {Tree[]} */ (node.slice(node[0] === "compare" || node[0] === "call" ? 2 : 1));
}

/**
 * Whether a node makes one number of all elements, as a mean does.
 * @param {Tree} node
 * @returns {node is ["call", string, Tree]}
 */
export const isReduction = (node) =>
  typeof node !== "number" && node[0] === "call" && Object.hasOwn(REDUCTIONS, node[1]);

/** Whether a tree has one value for all x; a mean has. @param {Tree} node @returns {boolean} */
function isConstant(node) {
  if (typeof node === "number" || isReduction(node)) return true;
  if (node[0] === "name") return !isVariable(node[1]) && !isDraw(node[1]);
  return node[0] !== "f" && operands(node).every(isConstant);
}

/**
 * A program of steps, each on the values of earlier ones; equal parts share a step.
 * @param {Node} tree
 * @returns {(scope: Scope) => Value}
 */
function compile(tree) {
  /** @type {Step[]} */
  const steps = [];
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @param {Tree} node @returns {number} of its step */
  const numberOf = (node) => {
    const key = JSON.stringify(node);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const apart = isReduction(node); // over x of its own
    const number = steps.push(stepOf(node, apart ? [] : operands(node).map(numberOf))) - 1;
    numbers.set(key, number);
    return number;
  };
  numberOf(tree);
  const keys = [...numbers.keys()];
  return (scope) => {
    const { parts } = scope;
    /** @type {Value[]} */
    const values = [];
    steps.forEach((step, i) => {
      const value = parts?.get(keys[i]) ?? step(values, scope);
      parts?.set(keys[i], value);
      values.push(value);
    });
    return values[values.length - 1];
  };
}

/** @param {Tree} node @param {number[]} from the steps of its operands @returns {Step} */
function stepOf(node, from) {
  if (typeof node === "number") return () => node;
  if (node[0] === "name") {
    const [, name] = node;
    if (name === NORMAL) return (_, scope) => drawn(scope, NORMAL) ?? mapped(ndtri, drawn(scope, UNIFORM));
    if (isDraw(name)) return (_, scope) => drawn(scope, name);
    if (isVariable(name)) return (_, scope) => /** @type {Value} */ (scope[name]);
    return (_, scope) => held(CONSTANTS, name) ?? scope.parameters[name];
  }
  if (isReduction(node)) {
    const text = JSON.stringify(node);
    const reduce = (/** @type {Scope} */ scope) => REDUCTIONS[node[1]](evaluate(node[2], scope));
    return (_, scope) => (scope.reference ? kept(scope.reference, text, reduce) : reduce(scope));
  }
  if (node[0] === "**" && !isConstant(node[1]) && isConstant(node[2])) {
    return (values) => mapped(toThe(/** @type {number} */ (values[from[1]])), values[from[0]]);
  }
  const apply = operation(node);
  return (values) => mapped(apply, ...from.map((i) => values[i]));
}

/** @param {Scope} reference @param {string} text of the node @param {(scope: Scope) => number} reduce */
function kept(reference, text, reduce) {
  let known = reduced.get(reference);
  if (!known) reduced.set(reference, (known = new Map()));
  let value = known.get(text);
  if (value === undefined) known.set(text, (value = reduce(reference)));
  return value;
}

/** @param {string} name @returns {name is "x"|"y"|"g"} */
const isVariable = (name) => ["x", "y", "g"].includes(name);

/** @param {string} name */
const isDraw = (name) => DRAWS.includes(name);

/** @param {Scope} scope @param {string} name @returns {Value} */
const drawn = (scope, name) => /** @type {Record<string, Value>} */ (scope.draws ?? NO_DRAWS)[name];

/** The function of a node, from the numbers of its operands. @param {Node} node @returns {Scalar} */
function operation(node) {
  if (node[0] === "call") return (isConstant(node) && PYTHON[node[1]]) || FUNCTIONS[node[1]];
  if (node[0] === "points") return straight(node[1], node[2]);
  if (node[0] === "through") return beyond(node[1], straight(node[1], node[2]));
  if (node[0] === "f") return () => NaN; // a draw without a number as well: the loss is not known here
  if (node[0] === "compare") return chain(node[1].map((sign) => OPERATORS[sign]));
  if (node[0] === "~") return (a) => 1 - a;
  if (node.length === 2) return negative;
  if (node[0] === "/" && isConstant(node[1]) && !isConstant(node[2])) return overEach;
  return OPERATORS[node[0]];
}

/**
 * Straight lines between points; at each exactly its own value.
 * @param {number[]} x ascending
 * @param {(number|null)[]} y
 * @returns {Scalar}
 */
function straight(x, y) {
  return (at) => {
    if (!(at >= x[0] && at <= x[x.length - 1])) return NaN;
    let [left, right] = [0, x.length - 1];
    while (right - left > 1) {
      const middle = (left + right) >> 1;
      if (x[middle] <= at) left = middle;
      else right = middle;
    }
    const [first, last] = [y[left] ?? NaN, y[right] ?? NaN];
    if (at === x[left]) return first;
    if (at === x[right]) return last;
    return first + (at - x[left]) * ((last - first) / (x[right] - x[left]));
  };
}

/** A function of numbers between the first and the last x, and constant beyond them. @param {number[]} x @param {Scalar} inside @returns {Scalar} */
function beyond(x, inside) {
  return (at) => inside(Math.min(Math.max(at, x[0]), x[x.length - 1]));
}

/** @param {Scalar[]} links @returns {Scalar} */
function chain(links) {
  if (links.length === 1) return links[0];
  return (...values) => Number(links.every((link, i) => link(values[i], values[i + 1])));
}
