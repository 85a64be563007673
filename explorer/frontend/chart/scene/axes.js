// Ranges and ticks of axes, at any depth of zoom.

import { formatSuperscript } from "../../formula/numbers.js";

/** @import { Line } from "./traces.js" */
/** @typedef {[number, number]} Range */

const PAD = 0.06; // of the height of a curve, kept free above and below
const NEARLY = 1e-6; // steps by which a tick may miss the end of a range, by rounding
const DIGITS = 18; // more than a number has
const [SMALLEST, LARGEST] = [-3, 5]; // powers of ten that are written out

/**
 * The range of y that shows lines: all of a curve, the larger part of one that grows without bound at a kink.
 * @param {Line[]} lines
 * @param {ArrayLike<number>} marks
 * @param {Range} least values that are always in it
 */
export function rangeOf(lines, marks, least) {
  const most = bound(lines, marks);
  let [low, high] = least;
  for (const { y } of lines) {
    for (let i = 0; i < y.length; i += 1) {
      if (!Number.isFinite(y[i])) continue;
      const value = Math.min(Math.max(y[i], -most), most);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return padded(low, high);
}

/** @param {number} low @param {number} high @returns {Range} */
function padded(low, high) {
  if (low > high) return [-1, 1];
  const pad = high - low > 1e-13 * Math.max(-low, high) ? PAD * (high - low) : Math.abs(high) / 2 || 1 + PAD;
  return [low - pad, high + pad];
}

/**
 * The largest |y| that is shown, by the size of curves away from kinks.
 * @param {Line[]} lines
 * @param {ArrayLike<number>} marks
 */
function bound(lines, marks) {
  let close = 0;
  let away = 0;
  for (const { y } of lines) {
    for (let i = 0; i < y.length; i += 1) {
      const size = Math.abs(y[i]);
      if (marks[i]) close = Math.max(close, Number.isNaN(size) ? 0 : size);
      else if (Number.isFinite(size)) away = Math.max(away, size);
    }
  }
  if (close <= 100 * away || !away) return Infinity;
  const sizes = lines.flatMap(({ y }) =>
    [...y].filter((v, i) => !marks[i] && Number.isFinite(v)).map(Math.abs),
  );
  sizes.sort((one, other) => one - other);
  return 4 * sizes[Math.floor(0.9 * (sizes.length - 1))] || 1;
}

/**
 * A range on its way to another while something moves: it grows at once, and shrinks softly where ``fit``.
 * @param {Range} now
 * @param {Range} next
 * @param {boolean} fit
 * @returns {Range}
 */
export function eased([low, high], [nextLow, nextHigh], fit) {
  const shrink = fit ? 0.3 : 0;
  return [
    nextLow < low ? nextLow : low + shrink * (nextLow - low),
    nextHigh > high ? nextHigh : high + shrink * (nextHigh - high),
  ];
}

/**
 * Ticks at round numbers. Where their labels would be too long they count in units of
 * ten to the ``exponent``, deep in a curve from ``base``, a round number in the range.
 * @param {Range} range
 * @param {number} most how many fit
 * @param {number} letters that a label may have
 */
export function ticks(range, most, letters) {
  const step = roundStep((range[1] - range[0]) / Math.max(most, 2));
  const plain = ticksFrom(0, range, step, letters);
  return lengthOf(plain) <= letters ? plain : ticksFrom(roundest(range), range, step, letters);
}

/** @param {number} base @param {Range} range @param {number} step @param {number} letters */
function ticksFrom(base, [start, stop], step, letters) {
  const first = Math.ceil((start - base) / step - NEARLY);
  const last = Math.floor((stop - base) / step + NEARLY);
  const steps = Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index);
  const values = steps.map((count) => base + count * step);
  const size = Math.floor(Math.log10(Math.max(Math.abs(first), Math.abs(last), 1) * step));
  const power = Math.floor(Math.log10(step) + 1e-9);
  const inUnits = (/** @type {number} */ exponent) => ({
    values,
    texts: textsOf(steps, step, exponent),
    base,
    exponent,
  });
  if (size < SMALLEST || size > LARGEST) return inUnits(power);
  const plain = inUnits(0);
  const counted = inUnits(power);
  return lengthOf(plain) > letters && lengthOf(counted) < lengthOf(plain) - 1 ? counted : plain;
}

/** @param {number[]} steps @param {number} step @param {number} exponent */
function textsOf(steps, step, exponent) {
  const unit = step / 10 ** exponent;
  const digits = Math.max(0, -Math.floor(Math.log10(unit) + 1e-9));
  return steps.map((count) => signed((count * unit).toFixed(Math.min(digits, 20))));
}

/** The letters of the longest label. @param {{texts: string[]}} ticks */
export function lengthOf({ texts }) {
  return Math.max(...texts.map(({ length }) => length));
}

/** A number in a range with as few digits as there are. @param {Range} range */
function roundest([start, stop]) {
  const highest = Math.ceil(Math.log10(Math.max(Math.abs(start), Math.abs(stop))));
  const powers = Array.from({ length: DIGITS }, (_, index) => highest - index);
  const rounded = powers.map((power) => roundTo((start + stop) / 2, 10 ** power));
  return rounded.find((number) => number >= start && number <= stop) ?? start;
}

/** The next of 1, 2, 5, 10, … times a power of ten. @param {number} width */
function roundStep(width) {
  const power = 10 ** Math.floor(Math.log10(width));
  return power * ([1, 2, 5].find((factor) => factor * power >= width * (1 - 1e-9)) ?? 10);
}

/** @param {number} value @param {number} unit a power of ten */
function roundTo(value, unit) {
  const digits = Math.max(0, Math.round(-Math.log10(unit)));
  return digits > 20
    ? Math.round(value / unit) * unit
    : Number((Math.round(value / unit) * unit).toFixed(digits));
}

/**
 * The title of an axis, with the part that its ticks leave out: "x − 1, in 10⁻⁹".
 * @param {string} name
 * @param {{base: number, exponent: number}} ticks
 */
export function titleOf(name, { base, exponent }) {
  const from = base ? ` ${base < 0 ? "+" : "−"} ${Math.abs(base)}` : "";
  return exponent ? `${name}${from}, in 10${formatSuperscript(exponent)}` : name + from;
}

/** @param {string} text with a hyphen for minus */
function signed(text) {
  return text.replace("-", "−").replace(/^−(0(\.0*)?)$/, "$1");
}
