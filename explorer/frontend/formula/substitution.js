/** A formula with the numbers of one point put in, as short text: "1 × (|0.5| ≤ 1) = 1". */

import { evaluate, isReduction, operands } from "./evaluation.js";
import { raised } from "./numbers.js";

/** @import { Comparison, Scope, Tree } from "./evaluation.js" */
/** @typedef {{text: string, level: number}} Printed text, and how tightly its outermost operator binds */

/** @type {Record<string, string>} */
const SIGNS = {
  "*": "×",
  "/": "/",
  "+": "+",
  "-": "−",
  "<=": "≤",
  ">=": "≥",
  "==": "=",
  "!=": "≠",
  "&": "and",
  "|": "or",
};
/** @type {Record<string, number>} */
const LEVELS = { "|": 1, "&": 2, compare: 3, "+": 4, "-": 4, "*": 5, "/": 5, "~": 6, "**": 7 };
const [SIGN, ATOM] = [6, 8];

/** A number with at most 4 significant digits, and a true minus. @param {number} value */
export const numberText = (value) => roundedText(value, 4);

/** @param {number} value @param {number} most significant digits */
export function roundedText(value, most) {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const [digits, exponent] = String(Number(value.toPrecision(most))).split("e");
  return minus(exponent ? `${digits}·10${raised(Number(exponent))}` : digits);
}

const minus = (/** @type {string} */ text) => text.replace("-", "−");

/** The formula with its numbers, and its result. @param {Tree} tree @param {Scope} scope with one x */
export function substituted(tree, scope) {
  const result = numberText(evaluate(tree, scope)[0]);
  const text = printed(tree, scope).text;
  return text === result ? result : `${text} = ${result}`;
}

/** @param {Tree} node @param {Scope} scope @returns {Printed} */
function printed(node, scope) {
  const isLeaf = typeof node === "number" || node[0] === "name" || isReduction(node);
  if (isLeaf) return numeral(evaluate(node, scope)[0]);
  if (node[0] === "call") return called(node[1], operands(node), scope);
  if (node[0] === "f" || node[0] === "through") return called(node[0], operands(node), scope);
  const [head] = node;
  const level = head === "-" && node.length === 2 ? SIGN : LEVELS[head];
  /** @param {Tree} part @param {number} least */
  const inside = (part, least) => bracketed(printed(part, scope), least);
  const [left, right] = operands(node);
  if (head === "compare") return { text: compared(node, (part) => inside(part, LEVELS["+"])), level };
  if (right === undefined) return { text: `${head === "~" ? "not " : "−"}${inside(left, level + 1)}`, level };
  if (head === "**") return { text: raisedTo(inside(left, ATOM), printed(right, scope)), level };
  const next = inside(right, level + 1);
  return {
    text: `${inside(left, level)} ${SIGNS[head]} ${level < LEVELS["+"] ? next : unsigned(next)}`,
    level,
  };
}

/** @param {number} value @returns {Printed} */
const numeral = (value) => ({
  text: numberText(value),
  level: value < 0 || Object.is(value, -0) ? SIGN : ATOM,
});

/** @param {Printed} printed @param {number} least */
const bracketed = ({ text, level }, least) => (level < least ? `(${text})` : text);

const unsigned = (/** @type {string} */ text) => (text.startsWith("−") ? `(${text})` : text);

/** @param {string} name @param {Tree[]} parts @param {Scope} scope @returns {Printed} */
function called(name, parts, scope) {
  const texts = parts.map((part) => printed(part, scope).text);
  return { text: name === "abs" ? `|${texts[0]}|` : `${name}(${texts.join(", ")})`, level: ATOM };
}

/** @param {Comparison} node @param {(part: Tree) => string} inside */
function compared([, signs, ...parts], inside) {
  return parts
    .map((part, i) => (i ? `${SIGNS[signs[i - 1]] ?? signs[i - 1]} ` : "") + inside(part))
    .join(" ");
}

/** A power: whole numbers are raised, others stand after ^. @param {string} base @param {Printed} exponent */
function raisedTo(base, { text, level }) {
  if (/^\d+$/.test(text)) return base + raised(Number(text));
  return `${base}^${bracketed({ text, level }, ATOM)}`;
}
