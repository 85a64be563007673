// Axes at any zoom: their ranges, ticks and labels.

import { formatSuperscript, writeMinus } from "../../formula/numbers.js";

/** @import { Line } from "./traces.js" */
/** The ends of an axis. @typedef {[number, number]} Range */

export const PAD = 0.06; // free space above and below the curves, as a fraction of their height
const TICK_TOLERANCE = 1e-6; // steps by which rounding may move a tick beyond the end of the axis
const FINER = 5; // steps of an axis that has at least two round numbers in it, wherever it begins
const DIGITS = 18; // significant digits, more than a float64 has
const [SMALLEST, LARGEST] = [-3, 5]; // powers of ten between which numbers need no exponent

/**
 * Choose the y range of all lines. Values near a pole, far from all others, are cut off.
 * @param {Line[]} lines @param {ArrayLike<number>} marks kind of each x: 0 on the even grid, 1 at a kink, 2 next to one
 * @param {Range} required a range to include
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

/**
 * Return a range with some space added at both ends, also if they are equal. It is [-1, 1] if ``low`` exceeds ``high``.
 * @param {number} low @param {number} high @returns {Range}
 */
function padRange(low, high) {
  if (low > high) return [-1, 1];
  const pad = high - low > 1e-13 * Math.max(-low, high) ? PAD * (high - low) : Math.abs(high) / 2 || 1 + PAD;
  return [low - pad, high + pad];
}

/**
 * Return the largest absolute value to show, from the curves away from their kinks. It is Infinity without poles.
 * @param {Line[]} lines @param {ArrayLike<number>} marks
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
 * Return an axis range between the current and the next one, so that axes move smoothly during a drag. It grows at
 * once, and shrinks step by step if ``fit`` is true, else not at all.
 * @param {Range} now @param {Range} next @param {boolean} fit @returns {Range}
 */
export function easeRange([low, high], [nextLow, nextHigh], fit) {
  const shrink = fit ? 0.3 : 0;
  return [
    nextLow < low ? nextLow : low + shrink * (nextLow - low),
    nextHigh > high ? nextHigh : high + shrink * (nextHigh - high),
  ];
}

/**
 * Choose tick positions, at least two round numbers, and labels. Long labels are in units of ten to the ``exponent``;
 * at deep zoom they count from ``base``, a round number in the range.
 * @param {Range} range @param {number} maxTicks maximum number of ticks
 * @param {number} letters maximum length of a label
 */
export function makeTicks(range, maxTicks, letters) {
  const makeFrom = (/** @type {number} */ count) => {
    const step = roundStep((range[1] - range[0]) / count);
    const plain = makeTicksFrom(0, range, step, letters);
    return getMaxLength(plain) <= letters ? plain : makeTicksFrom(findRoundest(range), range, step, letters);
  };
  const ticks = makeFrom(Math.max(maxTicks, 2));
  if (ticks.values.length > 1) return ticks;
  const finer = makeFrom(FINER); // there is room for the lowest and the highest of them
  const isEnd = (/** @type {*} */ _, /** @type {number} */ at) => at % (finer.values.length - 1) === 0;
  return { ...finer, values: finer.values.filter(isEnd), texts: finer.texts.filter(isEnd) };
}

/** @param {number} base @param {Range} range @param {number} step @param {number} letters */
function makeTicksFrom(base, [start, stop], step, letters) {
  const first = Math.ceil((start - base) / step - TICK_TOLERANCE);
  const last = Math.floor((stop - base) / step + TICK_TOLERANCE);
  const steps = Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index);
  const values = steps.map((count) => base + count * step);
  const size = Math.floor(Math.log10(Math.max(Math.abs(first), Math.abs(last), 1) * step));
  const power = Math.floor(Math.log10(step) + 1e-9);
  const formatInUnits = (/** @type {number} */ exponent) => ({
    values,
    texts: formatTicks(steps, step, exponent),
    base,
    exponent,
  });
  if (size < SMALLEST || size > LARGEST) return formatInUnits(power);
  const plain = formatInUnits(0);
  const counted = formatInUnits(power);
  return getMaxLength(plain) > letters && getMaxLength(counted) < getMaxLength(plain) - 1 ? counted : plain;
}

/** @param {number[]} steps multiples of ``step`` @param {number} step @param {number} exponent */
function formatTicks(steps, step, exponent) {
  const unit = step / 10 ** exponent;
  const digits = Math.max(0, -Math.floor(Math.log10(unit) + 1e-9));
  const texts = steps.map((count) => writeMinus((count * unit).toFixed(Math.min(digits, 20))));
  return texts.map((text) => text.replace(/^−(0(\.0*)?)$/, "$1"));
}

/** Return the length of the longest tick label. @param {{texts: string[]}} ticks */
export function getMaxLength({ texts }) {
  return Math.max(...texts.map(({ length }) => length));
}

/** @param {Range} range */
function findRoundest([start, stop]) {
  const highest = Math.ceil(Math.log10(Math.max(Math.abs(start), Math.abs(stop))));
  const powers = Array.from({ length: DIGITS }, (_, index) => highest - index);
  const rounded = powers.map((power) => roundTo((start + stop) / 2, 10 ** power));
  return rounded.find((number) => number >= start && number <= stop) ?? start;
}

/** Round the distance of ticks up to 1, 2 or 5 times a power of ten. @param {number} width */
function roundStep(width) {
  const power = 10 ** Math.floor(Math.log10(width));
  return power * ([1, 2, 5].find((factor) => factor * power >= width * (1 - 1e-9)) ?? 10);
}

/** Round a number to a multiple of a power of ten. @param {number} value @param {number} unit the power */
function roundTo(value, unit) {
  const digits = Math.max(0, Math.round(-Math.log10(unit)));
  return digits > 20
    ? Math.round(value / unit) * unit
    : Number((Math.round(value / unit) * unit).toFixed(digits));
}

/**
 * Format the title of an axis, including the base and unit of its tick labels, as in "x − 1, in 10⁻⁹".
 * @param {string} name @param {{base: number, exponent: number}} ticks
 */
export function formatTitle(name, { base, exponent }) {
  const offset = base ? ` ${base < 0 ? "+" : "−"} ${Math.abs(base)}` : "";
  return exponent ? `${name}${offset}, in 10${formatSuperscript(exponent)}` : name + offset;
}
