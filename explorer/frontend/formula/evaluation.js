/**
 * Evaluation of a formula's tree: each distinct subtree is computed once, over a whole array of x.
 * @typedef {number | Node} Tree nested lists as in Python's Formula.data
 * @typedef {["name", string] | Call | Comparison | Points | LossAt | ["~" | "-", Tree] | [Operator, Tree, Tree]} Node
 *   an operation with its operands
 * @typedef {["call", string, ...Tree[]]} Call a function's name and operands
 * @typedef {["compare", string[], ...Tree[]]} Comparison a chain: one sign fewer than trees
 * @typedef {["points"|"through", number[], (number|null)[], Tree]} Points linear between points; beyond them "through"
 *   is constant and "points", a user-defined function, is NaN
 * @typedef {["f", Tree]} LossAt the loss as a function of the given output, f(…)
 * @typedef {"+" | "-" | "*" | "/" | "**" | "&" | "|"} Operator
 * @typedef {(values: Value[], scope: Scope) => Value} Step computes a value from those of earlier steps
 * @typedef {object} Scope the values of the variables of a formula
 * @property {Float64Array} x tensor elements at which the formula is evaluated
 * @property {Value} [y] the op's forward values at x @property {Value} [g] the upstream gradient
 * @property {Record<string, Value>} [draws] random numbers by their spelling in formulas, such as "u()"; normal() is
 *   computed from u()
 * @property {Record<string, number>} parameters
 * @property {Map<string, Value>} [parts] cache of the values of subexpressions, shared by several formulas
 * @property {Scope} [reference] the scope over which mean(…) and other reductions are computed; this one by default
 */

import { FUNCTIONS, OPERATORS, PYTHON_FUNCTIONS, REDUCTIONS, makePower } from "./functions.js";
import { mapValues, negate, divideConstant } from "./loops.js";
import { ndtri } from "./normal.js";
import { getOwn } from "./records.js";

/** @import { Scalar } from "./functions.js" */
/** @import { Value } from "./loops.js" */

const CONSTANTS = { pi: Math.PI, e: Math.E };
const NO_X = new Float64Array(0);
export const [UNIFORM, NORMAL] = ["u()", "normal()"];
/** NaN for each random variable, for formulas without random numbers. @type {Record<string, number>} */
const NO_DRAWS = { "u()": NaN, "f()": NaN, "ya()": NaN, "fa()": NaN };
/** The names of random variables in formulas: uniform, normal, loss, and the output and loss for 1 − u. */
export const DRAWS = [UNIFORM, NORMAL, "f()", "ya()", "fa()"];

/** @type {WeakMap<Node, (scope: Scope) => Value>} */
const programs = new WeakMap();
/** The results of reductions such as mean(x), by scope and formula. @type {WeakMap<Scope, Map<string, number>>} */
const reductions = new WeakMap();

/** Return the value of an expression tree at each x. @param {Tree} tree @param {Scope} scope @returns {Float64Array} */
export function evaluate(tree, scope) {
  const value = evaluateValue(tree, scope);
  return typeof value === "number" ? new Float64Array(scope.x.length).fill(value) : value;
}

/**
 * Return the value of an expression tree that depends on parameters only.
 * @param {Tree} tree @param {Record<string, number>} parameters
 */
export const evaluateConstant = (tree, parameters) =>
  /** @type {number} */ (evaluateValue(tree, { x: NO_X, parameters }));

/**
 * Return the value of an expression tree, as one number if the expression is constant.
 * @param {Tree} tree @param {Scope} scope @returns {Value}
 */
function evaluateValue(tree, scope) {
  if (typeof tree === "number") return tree;
  let program = programs.get(tree);
  if (!program) programs.set(tree, (program = compileTree(tree)));
  return program(scope);
}

/** Return the operands of a node of an expression tree. @param {Tree} node @returns {Tree[]} */
export function getOperands(node) {
  if (typeof node === "number" || node[0] === "name") return [];
  if (node[0] === "points" || node[0] === "through") return [node[3]];
  return /** @type {Tree[]} */ (node.slice(node[0] === "compare" || node[0] === "call" ? 2 : 1));
}

/**
 * Return whether a node of an expression tree reduces all elements to one number, as in mean(x).
 * @param {Tree} node @returns {node is ["call", string, Tree]}
 */
export const isReduction = (node) =>
  typeof node !== "number" && node[0] === "call" && Object.hasOwn(REDUCTIONS, node[1]);

/** Return whether an expression has one value for all tensor elements. @param {Tree} node @returns {boolean} */
function isConstant(node) {
  if (typeof node === "number" || isReduction(node)) return true;
  if (node[0] === "name") return !isVariable(node[1]) && !isDraw(node[1]);
  return node[0] !== "f" && getOperands(node).every(isConstant);
}

/**
 * Compile an expression tree to a function of the values of variables. Equal subexpressions are computed once.
 * @param {Node} tree @returns {(scope: Scope) => Value}
 */
function compileTree(tree) {
  /** @type {Step[]} */
  const steps = [];
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @param {Tree} node @returns {number} the index of its step */
  const addStep = (node) => {
    const key = JSON.stringify(node);
    const existing = numbers.get(key);
    if (existing !== undefined) return existing;
    const isSeparate = isReduction(node); // its operands are evaluated over other x than the rest of the formula
    const number = steps.push(makeStep(node, isSeparate ? [] : getOperands(node).map(addStep))) - 1;
    numbers.set(key, number);
    return number;
  };
  addStep(tree);
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

/** @param {Tree} node @param {number[]} from indices of the steps that compute its operands @returns {Step} */
function makeStep(node, from) {
  if (typeof node === "number") return () => node;
  if (node[0] === "name") {
    const [, name] = node;
    if (name === NORMAL)
      return (_, scope) => getDraw(scope, NORMAL) ?? mapValues(ndtri, getDraw(scope, UNIFORM));
    if (isDraw(name)) return (_, scope) => getDraw(scope, name);
    if (isVariable(name)) return (_, scope) => /** @type {Value} */ (scope[name]);
    return (_, scope) => getOwn(CONSTANTS, name) ?? scope.parameters[name];
  }
  if (isReduction(node)) {
    const text = JSON.stringify(node);
    const reduce = (/** @type {Scope} */ scope) => REDUCTIONS[node[1]](evaluate(node[2], scope));
    return (_, scope) => (scope.reference ? reduceOnce(scope.reference, text, reduce) : reduce(scope));
  }
  if (node[0] === "**" && !isConstant(node[1]) && isConstant(node[2])) {
    return (values) => mapValues(makePower(/** @type {number} */ (values[from[1]])), values[from[0]]);
  }
  const apply = getOperation(node);
  return (values) => mapValues(apply, ...from.map((i) => values[i]));
}

/**
 * Return the value of a reduction such as mean(x), which is computed once for each scope.
 * @param {Scope} reference @param {string} text the reduction as a cache key @param {(scope: Scope) => number} reduce
 */
function reduceOnce(reference, text, reduce) {
  let cache = reductions.get(reference);
  if (!cache) reductions.set(reference, (cache = new Map()));
  let value = cache.get(text);
  if (value === undefined) cache.set(text, (value = reduce(reference)));
  return value;
}

/** @param {string} name @returns {name is "x"|"y"|"g"} */
const isVariable = (name) => ["x", "y", "g"].includes(name);

/** @param {string} name */
const isDraw = (name) => DRAWS.includes(name);

/** @param {Scope} scope @param {string} name @returns {Value} */
const getDraw = (scope, name) => /** @type {Record<string, Value>} */ (scope.draws ?? NO_DRAWS)[name];

/** @param {Node} node @returns {Scalar} */
function getOperation(node) {
  if (node[0] === "call") return (isConstant(node) && PYTHON_FUNCTIONS[node[1]]) || FUNCTIONS[node[1]];
  if (node[0] === "points") return interpolate(node[1], node[2]);
  if (node[0] === "through") return makeLines(node[1], /** @type {number[]} */ (node[2]));
  if (node[0] === "f") return () => NaN; // the loss is known only for means, where ``resolveTree`` has replaced it
  if (node[0] === "compare") return joinComparisons(node[1].map((sign) => OPERATORS[sign]));
  if (node[0] === "~") return (a) => 1 - a;
  if (node.length === 2) return negate;
  if (node[0] === "/" && isConstant(node[1]) && !isConstant(node[2])) return divideConstant;
  return OPERATORS[node[0]];
}

/**
 * Return a function that interpolates linearly between points. It is NaN beyond them, and next to a null.
 * @param {number[]} x positions in ascending order @param {(number|null)[]} y @returns {Scalar}
 */
function interpolate(x, y) {
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

/**
 * Return a function that interpolates linearly between points. It is constant beyond them.
 * @param {number[]} x positions in ascending order @param {number[]} y @returns {Scalar}
 */
export function makeLines(x, y) {
  const inside = interpolate(x, y);
  return (at) => inside(Math.min(Math.max(at, x[0]), x[x.length - 1]));
}

/**
 * Return a function that evaluates a chained comparison such as a < b < c to 1 or 0.
 * @param {Scalar[]} links one comparison for each sign @returns {Scalar}
 */
function joinComparisons(links) {
  if (links.length === 1) return links[0];
  return (...values) => Number(links.every((link, i) => link(values[i], values[i + 1])));
}
