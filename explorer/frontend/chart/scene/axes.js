// Ranges and ticks of axes, for any zoom.

import { formatSuperscript } from "../../formula/numbers.js";

/** @import { Line } from "./traces.js" */
/** @typedef {[number, number]} Range */

const PAD = 0.06; // free space above and below, as a share of a curve's height
const TICK_TOLERANCE = 1e-6; // steps by which rounding may move a tick beyond the end of a range
const DIGITS = 18; // more digits than a number has
const [SMALLEST, LARGEST] = [-3, 5]; // powers of ten that are shown as plain numbers

/**
 * Return the range of y for lines: complete curves, except the far part of a curve that is unbounded at a kink.
 * @param {Line[]} lines
 * @param {ArrayLike<number>} marks
 * @param {Range} required values always included
 */
export function fitRange(lines, marks, required) {
  const maxSize = findBound(lines, marks);
  let [low, high] = required;
  for (const { y } of lines) {
    for (let i = 0; i < y.length; i += 1) {
      if (!Number.isFinite(y[i])) continue;
      const value = Math.min(Math.max(y[i], -maxSize), maxSize);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return padRange(low, high);
}

/** Pad a range at both ends, even an empty one. @param {number} low @param {number} high @returns {Range} */
function padRange(low, high) {
  if (low > high) return [-1, 1];
  const pad = high - low > 1e-13 * Math.max(-low, high) ? PAD * (high - low) : Math.abs(high) / 2 || 1 + PAD;
  return [low - pad, high + pad];
}

/**
 * Return the largest |y| to show, based on the curves' size away from kinks.
 * @param {Line[]} lines
 * @param {ArrayLike<number>} marks
 */
function findBound(lines, marks) {
  let close = 0;
  let elsewhere = 0;
  for (const { y } of lines) {
    for (let i = 0; i < y.length; i += 1) {
      const size = Math.abs(y[i]);
      if (marks[i]) close = Math.max(close, Number.isNaN(size) ? 0 : size);
      else if (Number.isFinite(size)) elsewhere = Math.max(elsewhere, size);
    }
  }
  if (close <= 100 * elsewhere || !elsewhere) return Infinity;
  const sizes = lines.flatMap(({ y }) =>
    [...y].filter((v, i) => !marks[i] && Number.isFinite(v)).map(Math.abs),
  );
  sizes.sort((one, other) => one - other);
  return 4 * sizes[Math.floor(0.9 * (sizes.length - 1))] || 1;
}

/**
 * Return a range on the way to the next one during a drag: it grows at once and shrinks gradually if ``fit``.
 * @param {Range} now
 * @param {Range} next
 * @param {boolean} fit
 * @returns {Range}
 */
export function easeRange([low, high], [nextLow, nextHigh], fit) {
  const shrink = fit ? 0.3 : 0;
  return [
    nextLow < low ? nextLow : low + shrink * (nextLow - low),
    nextHigh > high ? nextHigh : high + shrink * (nextHigh - high),
  ];
}

/**
 * Return ticks at round numbers.
 *
 * If their labels would be too long, they count in units of ten to the ``exponent``, at deep zoom from ``base``, a
 * round number in the range.
 * @param {Range} range
 * @param {number} maxTicks the maximum number of ticks
 * @param {number} letters the maximum length of a label
 */
export function makeTicks(range, maxTicks, letters) {
  const step = roundStep((range[1] - range[0]) / Math.max(maxTicks, 2));
  const plain = makeTicksFrom(0, range, step, letters);
  return getMaxLength(plain) <= letters ? plain : makeTicksFrom(findRoundest(range), range, step, letters);
}

/** Return ticks from a base. @param {number} base @param {Range} range @param {number} step @param {number} letters */
function makeTicksFrom(base, [start, stop], step, letters) {
  const first = Math.ceil((start - base) / step - TICK_TOLERANCE);
  const last = Math.floor((stop - base) / step + TICK_TOLERANCE);
  const steps = Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index);
  const values = steps.map((count) => base + count * step);
  const size = Math.floor(Math.log10(Math.max(Math.abs(first), Math.abs(last), 1) * step));
  const power = Math.floor(Math.log10(step) + 1e-9);
  const formatInUnits = (/** @type {number} */ exponent) => ({
    values,
    texts: textsOf(steps, step, exponent),
    base,
    exponent,
  });
  if (size < SMALLEST || size > LARGEST) return formatInUnits(power);
  const plain = formatInUnits(0);
  const counted = formatInUnits(power);
  return getMaxLength(plain) > letters && getMaxLength(counted) < getMaxLength(plain) - 1 ? counted : plain;
}

/**
 * Return tick labels in units of a power of ten.
 * @param {number[]} steps @param {number} step @param {number} exponent
 */
function textsOf(steps, step, exponent) {
  const unit = step / 10 ** exponent;
  const digits = Math.max(0, -Math.floor(Math.log10(unit) + 1e-9));
  return steps.map((count) => fixMinus((count * unit).toFixed(Math.min(digits, 20))));
}

/** Return the length of the longest label. @param {{texts: string[]}} ticks */
export function getMaxLength({ texts }) {
  return Math.max(...texts.map(({ length }) => length));
}

/** Return a number in a range with the fewest digits. @param {Range} range */
function findRoundest([start, stop]) {
  const highest = Math.ceil(Math.log10(Math.max(Math.abs(start), Math.abs(stop))));
  const powers = Array.from({ length: DIGITS }, (_, index) => highest - index);
  const rounded = powers.map((power) => roundTo((start + stop) / 2, 10 ** power));
  return rounded.find((number) => number >= start && number <= stop) ?? start;
}

/** Round up to the next of 1, 2, 5, 10, … times a power of ten. @param {number} width */
function roundStep(width) {
  const power = 10 ** Math.floor(Math.log10(width));
  return power * ([1, 2, 5].find((factor) => factor * power >= width * (1 - 1e-9)) ?? 10);
}

/** Round a value to a unit. @param {number} value @param {number} unit a power of ten */
function roundTo(value, unit) {
  const digits = Math.max(0, Math.round(-Math.log10(unit)));
  return digits > 20
    ? Math.round(value / unit) * unit
    : Number((Math.round(value / unit) * unit).toFixed(digits));
}

/**
 * Return the title of an axis, with the part that its ticks omit: "x − 1, in 10⁻⁹".
 * @param {string} name
 * @param {{base: number, exponent: number}} ticks
 */
export function formatTitle(name, { base, exponent }) {
  const offset = base ? ` ${base < 0 ? "+" : "−"} ${Math.abs(base)}` : "";
  return exponent ? `${name}${offset}, in 10${formatSuperscript(exponent)}` : name + offset;
}

/** Replace a hyphen by a true minus, and −0 by 0. @param {string} text */
function fixMinus(text) {
  return text.replace("-", "−").replace(/^−(0(\.0*)?)$/, "$1");
}
