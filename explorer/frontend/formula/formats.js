/**
 * The numbers of the format that an op rounds to, and the one on which an x lands.
 *
 * @typedef {{mantissa: number, least: number, largest: number}} Format bits, least exponent, largest number
 * @typedef {{value: number, x: number, y: number, before: number|null, after: number|null}} Landing
 *   the number of the format for an x, y, and the numbers beside it
 * @typedef {{from: number, to: number, step: number, count: number}} Octave numbers one step apart; ``to`` belongs to
 *   the next one, but in the last
 */

import { evaluate, operands } from "./evaluation.js";
import { CASTS, FUNCTIONS } from "./functions.js";

/** @import { Tree } from "./evaluation.js" */

const MOST = 4096; // numbers that a page lists

/**
 * The first call in a tree that rounds to a format; null where there is none.
 * @param {Tree} tree
 * @returns {["call", string, ...Tree[]]|null}
 */
export function roundingIn(tree) {
  if (typeof tree === "number") return null;
  if (tree[0] === "call" && (tree[1] === "fp" || tree[1] in CASTS)) return tree;
  for (const part of operands(tree)) {
    const found = roundingIn(part);
    if (found) return found;
  }
  return null;
}

/**
 * The format of an op, whole numbers as fp reads them; null for an op that rounds to none.
 * @param {Tree} tree
 * @param {Record<string, number>} parameters
 * @returns {Format|null}
 */
export function formatOf(tree, parameters) {
  const call = roundingIn(tree);
  if (!call) return null;
  const [, ...own] = operands(call);
  const numbers = own.length ? own.map((each) => at(each, 0, parameters)) : CASTS[call[1]];
  const [mantissa, least] = [whole(numbers[0], 0, 52), whole(numbers[1], -1022, 1023)];
  return { mantissa, least, largest: Math.abs(numbers[2]) };
}

/** @param {number} value @param {number} low @param {number} high */
const whole = (value, low, high) => FUNCTIONS.round(value > low ? Math.min(value, high) : low);

/** @param {Tree} tree @param {number} x @param {Record<string, number>} parameters */
const at = (tree, x, parameters) => evaluate(tree, { x: Float64Array.of(x), g: 1, parameters })[0];

/** The step between numbers of the format at and above one of them. @param {Format} format @param {number} value */
function stepAt({ mantissa, least }, value) {
  return 2 ** (FUNCTIONS.exponent(value, least) - mantissa);
}

/**
 * The numbers by octaves of one step, from 0 up; null for too many.
 * @param {Format} format
 * @returns {Octave[]|null}
 */
export function octavesOf(format) {
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
    if (total > MOST) return null;
    octaves.push({ from, to, step, count });
    if (from > 0) power += 1;
    if (last) break;
  }
  return octaves;
}

/** The numbers that are not negative, ascending. @param {Octave[]} octaves */
export function numbersOf(octaves) {
  return octaves.flatMap(({ from, to, step, count }) =>
    Array.from({ length: count }, (_, index) => Math.min(from + index * step, to)),
  );
}

/** How many numbers there are with both signs. @param {Octave[]} octaves */
export const countOf = (octaves) => 2 * octaves.reduce((sum, { count }) => sum + count, 0) - 1;

/**
 * Where an x lands: the number of the format, y, and the numbers beside it.
 * @param {Tree} tree
 * @param {number} x
 * @param {Record<string, number>} parameters
 * @returns {Landing|null}
 */
export function landingOf(tree, x, parameters) {
  const call = roundingIn(tree);
  const format = formatOf(tree, parameters);
  if (!call || !format) return null;
  const value = at(call, x, parameters);
  const size = Math.abs(value);
  const above = size + stepAt(format, size);
  const below = size === 0 ? -above : size - stepAt(format, size - stepAt(format, size) / 2);
  const sign = value < 0 ? -1 : 1;
  const outer = above > format.largest ? null : sign * above;
  const inner = sign * below;
  return {
    ...{ value, x, y: at(tree, x, parameters) },
    before: sign < 0 ? outer : inner,
    after: sign < 0 ? inner : outer,
  };
}
