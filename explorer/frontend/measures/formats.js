/**
 * The numbers of the low-precision format to which an op rounds, such as FP8, and the result of rounding one x.
 * @typedef {{mantissa: number, least: number, largest: number}} Format bits of the mantissa, minimum exponent, largest
 *   number
 * @typedef {{value: number, x: number, y: number, before: number|null, after: number|null, isBeyond: boolean}} Landing
 *   the rounding of one x; ``value``: the nearest number of the format; ``before``, ``after``: its neighbours, null for
 *   none; ``isBeyond``: whether x exceeds the largest number
 * @typedef {{from: number, to: number, step: number, count: number}} Octave numbers of the format at a distance of
 *   ``step``; ``to`` belongs to the next octave, or to this one if it is the last
 */

import { sampleCurves } from "../formula/curves.js";
import { evaluate, getOperands } from "../formula/evaluation.js";
import { CASTS, FUNCTIONS } from "../formula/functions.js";
import { formatSuperscript, writeMinus } from "../formula/numbers.js";
import { formatRounded } from "../formula/substitution.js";

/** @import { Op } from "../formula/entry.js" */
/** @import { Tree } from "../formula/evaluation.js" */
/** @import { ScopeAt } from "../formula/kinks.js" */

const MAX_NUMBERS = 4096; // maximum count of numbers listed on a page
// maximum characters of an exact decimal; significant digits of a float64 and of a rounded number
const [MAX_CHARACTERS, DIGITS, SHORT_DIGITS] = [9, 15, 7];

/**
 * Return the part of a formula that rounds to a floating-point format, or null if there is none.
 * @param {Tree} tree @returns {["call", string, ...Tree[]]|null}
 */
export function findRounding(tree) {
  if (typeof tree === "number") return null;
  if (tree[0] === "call" && (tree[1] === "fp" || tree[1] in CASTS)) return tree;
  for (const part of getOperands(tree)) {
    const rounding = findRounding(part);
    if (rounding) return rounding;
  }
  return null;
}

/**
 * Return the floating-point format to which an op rounds, or null if it rounds to none. Numbers of bits are rounded to
 * integers, as by ``fp``.
 * @param {Tree} tree @param {Record<string, number>} parameters @returns {Format|null}
 */
export function findFormat(tree, parameters) {
  const call = findRounding(tree);
  if (!call) return null;
  const [, ...args] = getOperands(call);
  const numbers = args.length ? args.map((each) => evaluateAt(each, 0, parameters)) : CASTS[call[1]];
  const [mantissa, least] = [roundWithin(numbers[0], 0, 52), roundWithin(numbers[1], -1022, 1023)];
  return { mantissa, least, largest: Math.abs(numbers[2]) };
}

/**
 * Round a number to the nearest integer within bounds. NaN becomes the lower bound.
 * @param {number} value @param {number} low @param {number} high
 */
const roundWithin = (value, low, high) => FUNCTIONS.round(value > low ? Math.min(value, high) : low);

/** @param {Tree} tree @param {number} x @param {Record<string, number>} parameters */
const evaluateAt = (tree, x, parameters) => evaluate(tree, { x: Float64Array.of(x), g: 1, parameters })[0];

/**
 * Return the distance from a number to the next larger one of a floating-point format.
 * @param {Format} format @param {number} value
 */
function stepAt({ mantissa, least }, value) {
  return 2 ** (FUNCTIONS.exponent(value, least) - mantissa);
}

/**
 * List the numbers of a floating-point format, starting at 0, as octaves in which they are evenly spaced. Returns null
 * if there are too many, or the largest one is not positive and finite.
 * @param {Format} format @returns {Octave[]|null}
 */
export function listOctaves(format) {
  const { mantissa, least, largest } = format;
  if (!(largest > 0) || !Number.isFinite(largest)) return null;
  /** @type {Octave[]} */
  const octaves = [];
  let total = 0;
  for (let from = 0, power = least; from <= largest; from = 2 ** power) {
    const step = 2 ** (power - mantissa);
    const next = from === 0 ? 2 ** least : 2 * from;
    const last = next > largest;
    const to = last ? largest : next;
    const count = Math.ceil((to - from) / step) + Number(last);
    total += count;
    if (total > MAX_NUMBERS) return null;
    octaves.push({ from, to, step, count });
    if (from > 0) power += 1;
    if (last) break;
  }
  return octaves;
}

/** Return the nonnegative numbers of a floating-point format in ascending order. @param {Octave[]} octaves */
export function listNumbers(octaves) {
  return octaves.flatMap(({ from, to, step, count }) =>
    Array.from({ length: count }, (_, index) => Math.min(from + index * step, to)),
  );
}

/** Return how many numbers a floating-point format has, including negative ones. @param {Octave[]} octaves */
export const countNumbers = (octaves) => 2 * octaves.reduce((sum, { count }) => sum + count, 0) - 1;

/**
 * Find the number to which an op rounds x, and its neighbours in the floating-point format. Returns null if the op
 * rounds to no format.
 * @param {Tree} tree @param {number} x @param {Record<string, number>} parameters
 * @param {ScopeAt} scopeAt returns the variables of the op's formula at some x @returns {Landing|null}
 */
export function findLanding(tree, x, parameters, scopeAt) {
  const call = findRounding(tree);
  const format = findFormat(tree, parameters);
  if (!call || !format) return null;
  const scope = scopeAt(Float64Array.of(x));
  const [value] = evaluate(call, scope);
  const [input] = evaluate(getOperands(call)[0], scope);
  const size = Math.abs(value);
  const above = size + stepAt(format, size);
  const below = size === 0 ? -above : size - stepAt(format, size - stepAt(format, size) / 2);
  const sign = value < 0 ? -1 : 1;
  const outer = above > format.largest ? null : sign * above;
  const inner = sign * below;
  return {
    ...{ value, x, y: evaluate(tree, scope)[0], isBeyond: Math.abs(input) > format.largest },
    before: sign < 0 ? outer : inner,
    after: sign < 0 ? inner : outer,
  };
}

/**
 * Return the distinct output values of a piecewise constant op over a range of x, in ascending order. Returns null for
 * other ops, or if there are too many jumps.
 * @param {Op} op @param {Record<string, number>} parameters values by name @param {{start: number, stop: number}} range
 * @returns {number[]|null}
 */
export function findLevels(op, parameters, { start, stop }) {
  if (!op.flat) return null;
  const { kinks, y } = sampleCurves({ op, rules: [] }, { start, stop, g: 1, parameters });
  if (!kinks.forward) return null;
  const values = y.filter(Number.isFinite).sort();
  const least = 1e-9 * Math.max(Math.abs(values[0]), Math.abs(values[values.length - 1]));
  return [...values.filter((value, i) => i === 0 || value - values[i - 1] > least)].map((value) => value + 0);
}

/**
 * Format a number exactly if that is short, such as 0.28125 or 3·2⁻¹⁶, otherwise with seven digits.
 * @param {number} value
 */
export function formatExact(value) {
  const decimal = String(Number(value.toPrecision(DIGITS)));
  if (!decimal.includes("e") && decimal.length <= MAX_CHARACTERS) return writeMinus(decimal);
  const size = Math.abs(value);
  for (let power = FUNCTIONS.exponent(size, -1022); size && size / 2 ** power < MAX_NUMBERS; power -= 1) {
    const factor = size / 2 ** power;
    if (!Number.isInteger(factor)) continue;
    return `${value < 0 ? "−" : ""}${factor === 1 ? "" : `${factor}·`}2${formatSuperscript(power)}`;
  }
  return formatRounded(value, SHORT_DIGITS);
}
