/**
 * The numbers of the format that an op rounds to, and the one on which an x lands.
 *
 * @typedef {{mantissa: number, least: number, largest: number}} Format bits, least exponent, largest number
 * @typedef {{value: number, x: number, y: number, before: number|null, after: number|null, isBeyond: boolean}} Landing
 *   the number of the format for an x, y, the numbers beside it, and whether what is rounded lies beyond all of them
 * @typedef {{from: number, to: number, step: number, count: number}} Octave numbers one step apart; ``to`` belongs to
 *   the next one, but in the last
 */

import { sampleCurves } from "../formula/curves.js";
import { evaluate, getOperands } from "../formula/evaluation.js";
import { CASTS, FUNCTIONS } from "../formula/functions.js";
import { formatSuperscript } from "../formula/numbers.js";
import { formatRounded } from "../formula/substitution.js";

/** @import { Op } from "../formula/entry.js" */
/** @import { Tree } from "../formula/evaluation.js" */
/** @import { ScopeAt } from "../formula/kinks.js" */

const MOST = 4096; // numbers that a page lists
const [LETTERS, DIGITS, SHORT] = [9, 15, 7]; // of an exact decimal, of float64, of a number that is not exact

/**
 * The first call in a tree that rounds to a format; null where there is none.
 * @param {Tree} tree
 * @returns {["call", string, ...Tree[]]|null}
 */
export function roundingIn(tree) {
  if (typeof tree === "number") return null;
  if (tree[0] === "call" && (tree[1] === "fp" || tree[1] in CASTS)) return tree;
  for (const part of getOperands(tree)) {
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
  const [, ...own] = getOperands(call);
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
 * Where an x lands: the number of the format, y, and the numbers beside it; null for an op that rounds to none.
 * @param {Tree} tree
 * @param {number} x
 * @param {Record<string, number>} parameters
 * @param {ScopeAt} scopeAt of the op
 * @returns {Landing|null}
 */
export function landingOf(tree, x, parameters, scopeAt) {
  const call = roundingIn(tree);
  const format = formatOf(tree, parameters);
  if (!call || !format) return null;
  const scope = scopeAt(Float64Array.of(x));
  const [value] = evaluate(call, scope);
  const [given] = evaluate(getOperands(call)[0], scope);
  const size = Math.abs(value);
  const above = size + stepAt(format, size);
  const below = size === 0 ? -above : size - stepAt(format, size - stepAt(format, size) / 2);
  const sign = value < 0 ? -1 : 1;
  const outer = above > format.largest ? null : sign * above;
  const inner = sign * below;
  return {
    ...{ value, x, y: evaluate(tree, scope)[0], isBeyond: Math.abs(given) > format.largest },
    before: sign < 0 ? outer : inner,
    after: sign < 0 ? inner : outer,
  };
}

/**
 * The values of an op of levels in a range, ascending; null for an op that has none, or too many jumps.
 * @param {Op} op
 * @param {Record<string, number>} parameters by name
 * @param {{start: number, stop: number}} range
 * @returns {number[]|null}
 */
export function levelsIn(op, parameters, { start, stop }) {
  if (!op.flat) return null;
  const { kinks, y } = sampleCurves({ op, rules: [] }, { start, stop, g: 1, parameters });
  if (!kinks.forward) return null;
  const values = y.filter(Number.isFinite).sort();
  const least = 1e-9 * Math.max(Math.abs(values[0]), Math.abs(values[values.length - 1]));
  return [...values.filter((value, i) => i === 0 || value - values[i - 1] > least)].map((value) => value + 0);
}

/**
 * A number exactly, in a few characters where that can be: 0.28125, or 3·2⁻¹⁶; else with seven digits.
 * @param {number} value
 */
export function exactText(value) {
  const decimal = String(Number(value.toPrecision(DIGITS)));
  if (!decimal.includes("e") && decimal.length <= LETTERS) return decimal.replace("-", "−");
  const size = Math.abs(value);
  for (let power = FUNCTIONS.exponent(size, -1022); size && size / 2 ** power < MOST; power -= 1) {
    const factor = size / 2 ** power;
    if (!Number.isInteger(factor)) continue;
    return `${value < 0 ? "−" : ""}${factor === 1 ? "" : `${factor}·`}2${formatSuperscript(power)}`;
  }
  return formatRounded(value, SHORT);
}
