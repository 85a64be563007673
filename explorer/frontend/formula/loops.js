/**
 * Elementwise application of functions to arrays. Common functions have separate loops, since a loop that calls an
 * arbitrary function takes three times as long.
 * @typedef {number | Float64Array} Value one number for all elements, or an array with one for each
 * @typedef {(result: Float64Array, a: Float64Array, s: number, b: Float64Array, t: number, c: Float64Array, r: number)
 *   => void} Loop writes an operation's results; ``s``, ``t`` and ``r`` are the index steps of the operands a, b and c:
 *   0 for a single number, otherwise 1
 */

import { FUNCTIONS, OPERATORS, makePower } from "./functions.js";

/** @import { Scalar } from "./functions.js" */

/** Return the negative of a number. @type {Scalar} */
export const negate = (a) => -a;

/** Divide a constant ``a`` by a number like torch: multiply by the reciprocal. @type {Scalar} */
export const divideConstant = (a, b) => (1 / b) * a;

/** @type {Map<Scalar, Loop>} */
const LOOPS = new Map([
  [
    OPERATORS["+"],
    (result, a, s, b, t) => {
      for (let i = 0; i < result.length; i += 1) result[i] = a[i * s] + b[i * t];
    },
  ],
  [
    OPERATORS["-"],
    (result, a, s, b, t) => {
      for (let i = 0; i < result.length; i += 1) result[i] = a[i * s] - b[i * t];
    },
  ],
  [
    OPERATORS["*"],
    (result, a, s, b, t) => {
      for (let i = 0; i < result.length; i += 1) result[i] = a[i * s] * b[i * t];
    },
  ],
  [
    OPERATORS["/"],
    (result, a, s, b, t) => {
      for (let i = 0; i < result.length; i += 1) result[i] = a[i * s] / b[i * t];
    },
  ],
  [
    divideConstant,
    (result, a, s, b, t) => {
      for (let i = 0; i < result.length; i += 1) result[i] = (1 / b[i * t]) * a[i * s];
    },
  ],
  [
    OPERATORS["<"],
    (result, a, s, b, t) => {
      for (let i = 0; i < result.length; i += 1) result[i] = a[i * s] < b[i * t] ? 1 : 0;
    },
  ],
  [
    OPERATORS["<="],
    (result, a, s, b, t) => {
      for (let i = 0; i < result.length; i += 1) result[i] = a[i * s] <= b[i * t] ? 1 : 0;
    },
  ],
  [
    OPERATORS[">"],
    (result, a, s, b, t) => {
      for (let i = 0; i < result.length; i += 1) result[i] = a[i * s] > b[i * t] ? 1 : 0;
    },
  ],
  [
    negate,
    (result, a, s) => {
      for (let i = 0; i < result.length; i += 1) result[i] = -a[i * s];
    },
  ],
  [
    makePower(2),
    (result, a, s) => {
      for (let i = 0; i < result.length; i += 1) result[i] = a[i * s] * a[i * s];
    },
  ],
  [
    FUNCTIONS.log,
    (result, a, s) => {
      for (let i = 0; i < result.length; i += 1) result[i] = Math.log(a[i * s]);
    },
  ],
  [
    FUNCTIONS.exp,
    (result, a, s) => {
      for (let i = 0; i < result.length; i += 1) result[i] = Math.exp(a[i * s]);
    },
  ],
  [
    FUNCTIONS.abs,
    (result, a, s) => {
      for (let i = 0; i < result.length; i += 1) result[i] = Math.abs(a[i * s]);
    },
  ],
  [
    FUNCTIONS.floor,
    (result, a, s) => {
      for (let i = 0; i < result.length; i += 1) result[i] = Math.floor(a[i * s]);
    },
  ],
  [
    FUNCTIONS.sigmoid,
    (result, a, s) => {
      for (let i = 0; i < result.length; i += 1) result[i] = 1 / (1 + Math.exp(-a[i * s]));
    },
  ],
  [
    FUNCTIONS.where,
    (result, a, s, b, t, c, r) => {
      for (let i = 0; i < result.length; i += 1) result[i] = a[i * s] ? b[i * t] : c[i * r];
    },
  ],
]);

const UNUSED = new Float64Array(1);

/**
 * Apply a scalar function elementwise to numbers and arrays.
 * @param {Scalar} apply @param {...Value} values @returns {Value}
 */
export function mapValues(apply, ...values) {
  const length = values.find((value) => typeof value !== "number")?.length;
  if (length === undefined) return apply(.../** @type {number[]} */ (values));
  const result = new Float64Array(length);
  const loop = LOOPS.get(apply);
  if (!loop) return applyEach(result, apply, values);
  const [a, b, c] = values.map((value) => (typeof value === "number" ? Float64Array.of(value) : value));
  const [s, t, r] = values.map((value) => (typeof value === "number" ? 0 : 1));
  loop(result, a, s, b ?? UNUSED, t ?? 0, c ?? UNUSED, r ?? 0);
  return result;
}

/** @param {Float64Array} result @param {Scalar} apply @param {Value[]} values */
function applyEach(result, apply, values) {
  const { length } = result;
  const columns = values.map((value) =>
    typeof value === "number" ? new Float64Array(length).fill(value) : value,
  );
  const [a, b, c, d] = columns;
  if (columns.length === 1) for (let i = 0; i < length; i += 1) result[i] = apply(a[i]);
  else if (columns.length === 2) for (let i = 0; i < length; i += 1) result[i] = apply(a[i], b[i]);
  else if (columns.length === 3) for (let i = 0; i < length; i += 1) result[i] = apply(a[i], b[i], c[i]);
  else if (columns.length === 4)
    for (let i = 0; i < length; i += 1) result[i] = apply(a[i], b[i], c[i], d[i]);
  else for (let i = 0; i < length; i += 1) result[i] = apply(...columns.map((column) => column[i]));
  return result;
}
