/**
 * A formula's tree to numbers: each distinct part is computed once, over a whole array of x.
 *
 * @typedef {number | Array} Tree nested lists as Python's Formula.data gives them
 * @typedef {number | Float64Array} Value one for all x, or one for each
 * @typedef {object} Scope
 * @property {Float64Array} x
 * @property {Value} [y] the op's forward values at x
 * @property {Value} [g] the upstream gradient
 * @property {Record<string, number>} parameters
 * @property {Scope} [reference] where every mean(…) is taken over; without one, x itself
 */

import { FUNCTIONS, OPERATORS, PYTHON, toThe } from "./functions.js";
import { held } from "./records.js";

const CONSTANTS = { pi: Math.PI, e: Math.E };
const VARIABLES = ["x", "y", "g"];

/** @type {WeakMap<Array, (scope: Scope) => Value>} */
const compiled = new WeakMap();

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
 * @returns {number}
 */
export const constantValue = (tree, parameters) => /** @type {number} */ (calculated(tree, { parameters }));

function calculated(tree, scope) {
  if (typeof tree === "number") return tree;
  if (!compiled.has(tree)) compiled.set(tree, compile(tree));
  return compiled.get(tree)(scope);
}

/** The operands of a node; its head is the rest. */
export function operands(node) {
  if (typeof node === "number" || node[0] === "name") return [];
  return node.slice(node[0] === "compare" || node[0] === "call" ? 2 : 1);
}

/** Whether a tree has one value for all x; a mean has. */
function isConstant(node) {
  if (typeof node === "number" || (node[0] === "call" && node[1] === "mean")) return true;
  return node[0] === "name" ? !VARIABLES.includes(node[1]) : operands(node).every(isConstant);
}

/** A program of steps, each on the values of earlier ones; equal parts share a step. */
function compile(tree) {
  const steps = [];
  const numbers = new Map();
  const numberOf = (node) => {
    const key = JSON.stringify(node);
    if (!numbers.has(key)) {
      const step = stepOf(node, node[1] === "mean" ? [] : operands(node).map(numberOf));
      numbers.set(key, steps.push(step) - 1);
    }
    return numbers.get(key);
  };
  numberOf(tree);
  return (scope) => {
    const values = [];
    for (const step of steps) values.push(step(values, scope));
    return values[values.length - 1];
  };
}

function stepOf(node, from) {
  if (typeof node === "number") return () => node;
  const [head, name] = node;
  if (head === "name") return (_, scope) => nameValue(name, scope);
  if (head === "call" && name === "mean") return (_, scope) => mean(node[2], scope.reference ?? scope);
  if (head === "**" && !isConstant(node[1]) && isConstant(node[2])) {
    return (values) => mapped(toThe(values[from[1]]), values[from[0]]);
  }
  const apply = operation(node);
  return (values) => mapped(apply, ...from.map((i) => values[i]));
}

function nameValue(name, scope) {
  return VARIABLES.includes(name) ? scope[name] : (held(CONSTANTS, name) ?? scope.parameters[name]);
}

function mean(tree, scope) {
  const values = evaluate(tree, scope);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** What a node does to the numbers of its operands. */
function operation(node) {
  const [head, ...rest] = node;
  if (head === "call") return (isConstant(node) && PYTHON[rest[0]]) || FUNCTIONS[rest[0]];
  if (head === "compare") return chain(rest[0].map((sign) => OPERATORS[sign]));
  if (head === "~") return (a) => 1 - a;
  if (head === "-" && rest.length === 1) return (a) => -a;
  if (head === "/" && isConstant(rest[0]) && !isConstant(rest[1])) return (a, b) => (1 / b) * a; // as torch does
  return OPERATORS[head];
}

function chain(links) {
  if (links.length === 1) return links[0];
  return (...values) => Number(links.every((link, i) => link(values[i], values[i + 1])));
}

/** A function of numbers applied to numbers and arrays. */
function mapped(apply, ...values) {
  const length = values.find((value) => typeof value !== "number")?.length;
  if (length === undefined) return apply(...values);
  const columns = values.map((value) =>
    typeof value === "number" ? new Float64Array(length).fill(value) : value,
  );
  const [a, b, c] = columns;
  const result = new Float64Array(length);
  if (columns.length === 1) for (let i = 0; i < length; i += 1) result[i] = apply(a[i]);
  else if (columns.length === 2) for (let i = 0; i < length; i += 1) result[i] = apply(a[i], b[i]);
  else if (columns.length === 3) for (let i = 0; i < length; i += 1) result[i] = apply(a[i], b[i], c[i]);
  else for (let i = 0; i < length; i += 1) result[i] = apply(...columns.map((column) => column[i]));
  return result;
}
