/** A formula as text with the numbers of one point in place of its names, such as "1 × (|0.5| ≤ 1) = 1". */

import { evaluate, isReduction, getOperands } from "./evaluation.js";
import { formatSuperscript, writeMinus } from "./numbers.js";

/** @import { Comparison, Scope, Tree } from "./evaluation.js" */
/** @typedef {{text: string, level: number}} PrintedText an expression with the precedence of its outermost operator */

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
const MAX_LENGTH = 50; // in characters, of a calculation with both branches of each where()

/** Format a number with at most four significant digits and a true minus sign. @param {number} value */
export const formatFourDigits = (value) => formatRounded(value, 4);

/**
 * Format a number with a true minus sign.
 * @param {number} value @param {number} maxDigits maximum number of significant digits
 */
export function formatRounded(value, maxDigits) {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const [digits, exponent] = String(Number(value.toPrecision(maxDigits))).split("e");
  return writeMinus(exponent ? `${digits}·10${formatSuperscript(Number(exponent))}` : digits);
}

/**
 * Format a formula with numbers in place of its names, followed by the result. A long formula shows only the branch of
 * each where() that is taken.
 * @param {Tree} tree @param {Scope} scope the values of the names, at a single x
 */
export function formatSubstituted(tree, scope) {
  const result = formatFourDigits(evaluate(tree, scope)[0]);
  const whole = printNode(tree, scope).text;
  const { text } = whole.length > MAX_LENGTH ? printNode(tree, scope, true) : { text: whole };
  return text === result ? result : `${text} = ${result}`;
}

/** @param {Tree} node @param {Scope} scope @param {boolean} [isShort] @returns {PrintedText} */
function printNode(node, scope, isShort = false) {
  const isLeaf = typeof node === "number" || node[0] === "name" || isReduction(node);
  if (isLeaf) return printNumber(evaluate(node, scope)[0]);
  const operands = getOperands(node);
  const [condition, yes, no] = operands;
  if (isShort && node[0] === "call" && node[1] === "where")
    return printNode(evaluate(condition, scope)[0] ? yes : no, scope, isShort);
  if (node[0] === "call") return printCall(node[1], operands, scope, isShort);
  if (node[0] === "f" || node[0] === "through") return printCall(node[0], operands, scope, isShort);
  const [head] = node;
  const level = head === "-" && node.length === 2 ? SIGN : LEVELS[head];
  /** Format an operand, in brackets if its precedence is below ``least``. @param {Tree} part @param {number} least */
  const printOperand = (part, least) => addBrackets(printNode(part, scope, isShort), least);
  const [left, right] = operands;
  if (head === "compare")
    return { text: printComparison(node, (part) => printOperand(part, LEVELS["+"])), level };
  if (right === undefined)
    return { text: `${head === "~" ? "not " : "−"}${printOperand(left, level + 1)}`, level };
  if (head === "**")
    return { text: printPower(printOperand(left, ATOM), printNode(right, scope, isShort)), level };
  const next = printOperand(right, level + 1);
  return {
    text: `${printOperand(left, level)} ${SIGNS[head]} ${level < LEVELS["+"] ? next : wrapNegative(next)}`,
    level,
  };
}

/** Format a number. A negative one has the precedence of a minus sign. @param {number} value @returns {PrintedText} */
const printNumber = (value) => ({
  text: formatFourDigits(value),
  level: value < 0 || Object.is(value, -0) ? SIGN : ATOM,
});

/** @param {PrintedText} printed @param {number} least */
const addBrackets = ({ text, level }, least) => (level < least ? `(${text})` : text);

const wrapNegative = (/** @type {string} */ text) => (text.startsWith("−") ? `(${text})` : text);

/** @param {string} name @param {Tree[]} parts @param {Scope} scope @param {boolean} isShort @returns {PrintedText} */
function printCall(name, parts, scope, isShort) {
  const texts = parts.map((part) => printNode(part, scope, isShort).text);
  return { text: name === "abs" ? `|${texts[0]}|` : `${name}(${texts.join(", ")})`, level: ATOM };
}

/**
 * Format a comparison such as −1 ≤ x ≤ 1.
 * @param {Comparison} node @param {(part: Tree) => string} inside formats an operand
 */
function printComparison([, signs, ...parts], inside) {
  return parts
    .map((part, i) => (i ? `${SIGNS[signs[i - 1]] ?? signs[i - 1]} ` : "") + inside(part))
    .join(" ");
}

/**
 * Format a power. An integer exponent is in superscript, any other after "^".
 * @param {string} base @param {PrintedText} exponent
 */
function printPower(base, { text, level }) {
  if (/^\d+$/.test(text)) return base + formatSuperscript(Number(text));
  return `${base}^${addBrackets({ text, level }, ATOM)}`;
}
