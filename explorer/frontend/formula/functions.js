/**
 * Functions and operators of the formula language on float64 numbers, with the results of torch.
 * @typedef {(...values: number[]) => number} Scalar
 */

import { erf } from "./normal.js";

const ROOT_PI = Math.sqrt(Math.PI);

/**
 * Return a ** b like C. JavaScript returns NaN for 1 to any power and for (−1) to an infinite power.
 * @param {number} a @param {number} b
 */
export function computePower(a, b) {
  if (a === 1 || (a === -1 && Math.abs(b) === Infinity)) return 1;
  return a ** b;
}

/**
 * The exponents for which torch multiplies or takes roots instead of calling pow, with functions that do so.
 * @type {Map<number, (a: number) => number>}
 */
const CONSTANT_POWERS = new Map([
  [0.5, Math.sqrt],
  [-0.5, (a) => 1 / Math.sqrt(a)],
  [1, (a) => a],
  [2, (a) => a * a],
  [3, (a) => a * a * a],
  [-1, (a) => 1 / a],
  [-2, (a) => 1 / (a * a)],
]);

/** Return a function that raises a number to a constant power, computed like torch. @param {number} exponent */
export const makePower = (exponent) => CONSTANT_POWERS.get(exponent) ?? ((a) => computePower(a, exponent));

/** @type {Scalar} */
const clamp = (a, low, high) => Math.min(Math.max(a, low), high);
/** @type {Scalar} */
const elu = (a, alpha) => (a < 0 ? Math.expm1(a) * alpha : a);

/** Round a number to the nearest integer, with halves to even. @type {Scalar} */
function round(a) {
  const down = Math.floor(a);
  const rest = a - down;
  return rest < 0.5 || (rest === 0.5 && down % 2 === 0) ? down : Math.ceil(a);
}

/** Round a number to an integer within bounds. NaN becomes the lower bound. @type {Scalar} */
const roundBetween = (a, low, high) => (a > low ? round(Math.min(a, high)) : low);

const bits = new DataView(new ArrayBuffer(8));

/** Return floor(log2(|a|)) of a finite number, but at least ``least``. @type {Scalar} */
function findBinade(a, least) {
  bits.setFloat64(0, a);
  return Math.max(((bits.getUint32(0) >>> 20) & 2047) - 1023, least);
}

/**
 * Return floor(log2(|a|)) exactly, but at least ``least``. An infinite or NaN ``a`` is returned as |a|.
 * @type {Scalar}
 */
function exponent(a, least) {
  return Number.isFinite(a) ? findBinade(a, roundBetween(least, -1022, 1023)) : Math.abs(a);
}

/**
 * The number formats of torch's casts: bits of the mantissa, minimum exponent, and maximum.
 * @type {Record<string, number[]>}
 */
export const CASTS = { float8_e4m3fn: [3, -6, 448], float8_e5m2: [2, -14, 57344] };

/** @param {number[]} format bits of the mantissa, minimum exponent, maximum @returns {Scalar} */
function makeCast([mantissa, least, largest]) {
  return (a) => fp(a, mantissa, least, largest);
}

/** Round a number to a floating-point format: halves to even, larger numbers to ±``largest``. @type {Scalar} */
function fp(a, mantissa, least, largest) {
  const top = Math.abs(largest);
  if (!Number.isFinite(a) || Number.isNaN(top)) return Number.isNaN(a) ? a : copysign(top, a);
  const step = 2 ** (findBinade(a, roundBetween(least, -1022, 1023)) - roundBetween(mantissa, 0, 52));
  return copysign(Math.min(Math.abs(round(a / step) * step), top), a);
}

/** @type {Scalar} */
const copysign = (a, b) => (b < 0 || Object.is(b, -0) ? -Math.abs(a) : Math.abs(a));

const LARGEST_FLOAT32 = (2 - 2 ** -23) * 2 ** 127;

/** @type {Record<string, Scalar>} */
export const FUNCTIONS = {
  abs: Math.abs,
  sign: (a) => (a > 0 ? 1 : 0) - (a < 0 ? 1 : 0),
  heaviside: (a, b) => (a === 0 ? b : Number(a > 0)),
  round,
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  fp,
  exponent,
  float8_e4m3fn: makeCast(CASTS.float8_e4m3fn),
  float8_e5m2: makeCast(CASTS.float8_e5m2),
  exp: Math.exp,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  sqrt: Math.sqrt,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  softplus: (a) => (a > 20 ? a : Math.log1p(Math.exp(a))),
  erf,
  relu: (a) => Math.max(a, 0),
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  clamp,
  clamp_min: (a, low) => Math.max(a, low),
  clamp_max: (a, high) => Math.min(a, high),
  where: (condition, then, otherwise) => (condition ? then : otherwise),
  detach: (a) => a,
  gelu: (a) => 0.5 * a * (1 + erf(a * Math.SQRT1_2)),
  gelu_tanh: (a) => 0.5 * a * (1 + Math.tanh((Math.SQRT2 / ROOT_PI) * (a + 0.044715 * a * a * a))),
  silu: (a) => a / (1 + Math.exp(-a)),
  mish: (a) => a * Math.tanh(Math.log1p(Math.exp(a))),
  selu: (a) => 1.0507009873554805 * elu(a, 1.6732632423543772),
  elu,
  celu(a, alpha) {
    const size = Math.abs(alpha);
    if (size === 0 || (size > LARGEST_FLOAT32 && size < Infinity)) return NaN;
    return a < 0 ? Math.expm1(a * (1 / alpha)) * alpha : a;
  },
  leaky_relu: (a, slope) => (a > 0 ? a : a * slope),
  relu6: (a) => clamp(a, 0, 6),
  hardtanh: (a, low, high) => (low > high ? NaN : clamp(a, low, high)),
  softsign: (a) => a / (Math.abs(a) + 1),
  hardsigmoid: (a) => clamp(a + 3, 0, 6) / 6,
  hardswish: (a) => (a * clamp(a + 3, 0, 6)) / 6,
  softshrink(a, width) {
    if (!(width >= 0 && width < Infinity)) return NaN;
    if (a > width) return a - width;
    return a < -width ? a + width : a * 0;
  },
  hardshrink: (a, width) => (-width <= a && a <= width ? 0 : a),
  reciprocal: (a) => 1 / a,
  remainder(a, b) {
    const rest = a % b;
    return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
  },
  copysign,
  nan_to_num: (a) => (Number.isNaN(a) ? 0 : clamp(a, -Number.MAX_VALUE, Number.MAX_VALUE)),
};

/** @param {Float64Array} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Functions that reduce all elements to one number, by name.
 * @type {Record<string, (values: Float64Array) => number>}
 */
export const REDUCTIONS = {
  mean,
  amax: (values) => values.reduce((a, b) => Math.max(a, b), -Infinity),
  amin: (values) => values.reduce((a, b) => Math.min(a, b), Infinity),
  std(values) {
    const middle = mean(values);
    return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
  },
  numel: (values) => values.length,
};

/**
 * Functions with Python's results for constants: min and max ignore NaN as the second argument.
 * @type {Record<string, Scalar>}
 */
export const PYTHON_FUNCTIONS = { min: (a, b) => (b < a ? b : a), max: (a, b) => (b > a ? b : a) };

/** The operators of formulas. Comparisons return 0 or 1. @type {Record<string, Scalar>} */
export const OPERATORS = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "**": computePower,
  "&": (a, b) => a && b,
  "|": (a, b) => a || b,
  "<": (a, b) => Number(a < b),
  "<=": (a, b) => Number(a <= b),
  ">": (a, b) => Number(a > b),
  ">=": (a, b) => Number(a >= b),
  "==": (a, b) => Number(a === b),
  "!=": (a, b) => Number(a !== b),
};
