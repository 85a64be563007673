// The y axes of a training run's charts: ranges that only grow, ticks, and the format of values.

import { formatPower, formatShort, writeMinus } from "../../formula/numbers.js";

/** @import { Series } from "../state/series.js" */
/** The ends of an axis; for "decades", exponents of ten. @typedef {[number, number]} Range */
/**
 * The y axis of a chart. ``kind``: "share" for values from 0 to 1, in percent; "fit" for values up to 1; "cosine" for
 * −1 to 1; "decades" for positive values, logarithmic; "plain" for all others. ``chance``: the score of random
 * guessing, or null, and ``guess`` its name; ``heldOut``: whether values are of held-out data; ``decimals``: their
 * number after the point.
 * @typedef {{kind: "share"|"fit"|"cosine"|"decades"|"plain", title: string, chance: number|null, guess?: string,
 *   heldOut?: boolean, decimals?: number}} Scale
 */

const MARGIN = 0.05; // space above and below the curves, as a fraction of their height
// growth of a moving curve's axis: as a fraction of its length, at most in decades
const [LEAP, MAX_LEAP] = [0.75, 4];
const MAX_DECADES_ABOVE = 3; // limits a diverging curve, which would flatten all others
const HIGH_CHANCE = 0.4; // the axis starts here instead of at 0 if random guessing scores more
/**
 * The minimum number of characters of a formatted value by kind, so that labels do not change their width.
 * @type {{[kind in Scale["kind"]]: number}}
 */
export const VALUE_LETTERS = { share: 5, fit: 5, cosine: 5, decades: 6, plain: 6 };

/** Functions by kind; each returns Plotly's axis with ticks. @type {{[kind in Scale["kind"]]: (range: Range) => *}} */
export const AXES = {
  share: (range) => makeLinearAxis(range, (value) => String(Math.round(100 * value))),
  fit: (range) => makeLinearAxis(range, (value) => writeMinus(String(Math.round(100 * value) / 100))),
  cosine: (range) => makeLinearAxis(range, (value) => writeMinus(String(value))),
  decades: makeLogAxis,
  plain: () => ({ type: "linear", nticks: 5 }),
};

/** @param {Range} range @param {(value: number) => string} text */
function makeLinearAxis([low, high], text) {
  const step =
    [0.1, 0.2, 0.25, 0.5].find((each) => (high - low) / each <= 4.01) ?? Math.ceil((high - low) / 4);
  const tickvals = [];
  for (let value = high; value >= low - 1e-9; value -= step)
    tickvals.unshift(Math.abs(value) < 1e-9 ? 0 : value);
  return { type: "linear", tickmode: "array", tickvals, ticktext: tickvals.map(text) };
}

/**
 * Return Plotly's logarithmic axis, with ticks at 1, 2 and 5 times powers of ten, or on a long axis only at some
 * powers.
 * @param {Range} range exponents of ten
 */
function makeLogAxis([low, high]) {
  const stride = Math.ceil((high - low) / 8);
  const powers = Array.from({ length: high - low + 1 }, (_, at) => low + at).filter(
    (_, at) => at % stride === 0,
  );
  const fine = high - low <= 2;
  const tickvals = powers.flatMap((at) => (fine ? [1, 2, 5] : [1]).map((factor) => factor * 10 ** at));
  return {
    type: "log",
    tickmode: "array",
    tickvals,
    ticktext: fine ? tickvals.map(formatShort) : powers.map(formatPower),
  };
}

/**
 * Functions by kind of axis. Each extends the present range, null at first, so that it contains all curves. It returns
 * null as long as there is no value to show.
 * @type {{[kind in Scale["kind"]]: (range: Range|null, series: Series[], scale: Scale) => Range|null}}
 */
export const RANGES = {
  /** Start at 0, or at ``HIGH_CHANCE`` if random guessing scores more and no value is below it. */
  share(range, series, { chance }) {
    const start = (chance ?? 0) > HIGH_CHANCE ? HIGH_CHANCE : 0;
    return [Math.min(range?.[0] ?? start, findMin(series) < start ? 0 : start), 1];
  },
  /** Start at 0, or at −1 if a net is worse than predicting the mean. */
  fit: (range, series) => [Math.min(range?.[0] ?? 0, findMin(series) < 0 ? -1 : 0), 1],
  /** Start at 0, or at the multiple of 0.5 below a negative value. */
  cosine: (range, series) => [Math.min(range?.[0] ?? 0, Math.floor(2 * Math.min(findMin(series), 0)) / 2), 1],
  /** Extend to whole powers of ten, at most ``MAX_DECADES_ABOVE`` of them above a curve's first value. */
  decades(range, series) {
    let [low, high] = range ?? [Infinity, -Infinity];
    for (const { y, low: lows = [], high: highs = [] } of series) {
      let max = NaN;
      for (const values of [y, lows, highs])
        for (let at = 0; at < values.length; at += 1) {
          const decade = Math.log10(values[at]);
          if (!(values[at] > 0)) continue;
          if (Number.isNaN(max)) max = decade + MAX_DECADES_ABOVE;
          if (decade === Infinity) continue;
          low = Math.min(low, Math.floor(decade));
          high = Math.max(high, Math.ceil(Math.min(decade, max)));
        }
    }
    return low > high ? null : [low, Math.max(high, low + 1)];
  },
  /** Extend to all values, with a margin. */
  plain(range, series) {
    const values = series.flatMap(({ y }) => Array.from(y).filter(Number.isFinite));
    if (!values.length) return range;
    const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
    const margin = MARGIN * (high - low || Math.abs(high) || 1);
    return [Math.min(range?.[0] ?? Infinity, low - margin), Math.max(range?.[1] ?? -Infinity, high + margin)];
  },
};

/**
 * Return a range that still fits after the next values of a moving curve: it gets extra space where ``next`` exceeds
 * ``before``. Otherwise Plotly would redraw the axis for each value.
 * @param {Scale["kind"]} kind @param {Range} before the displayed range
 * @param {Range} next a range with all values, which includes ``before`` @returns {Range}
 */
export function leapAhead(kind, [low, high], next) {
  if (kind !== "decades" && kind !== "plain") return next;
  const leap = kind === "plain" ? LEAP * (high - low) : Math.min(Math.ceil(LEAP * (high - low)), MAX_LEAP);
  return [
    next[0] < low ? Math.min(next[0], low - leap) : low,
    next[1] > high ? Math.max(next[1], high + leap) : high,
  ];
}

/** Return the smallest value of all curves, or Infinity without values. @param {Series[]} series */
function findMin(series) {
  return series
    .flatMap(({ y }) => Array.from(y))
    .reduce((least, value) => (value < least ? value : least), Infinity);
}

/**
 * Functions by kind of axis. Each formats a value as the label at the end of its curve.
 * @type {{[kind in Scale["kind"]]: (value: number, decimals?: number) => string}}
 */
export const VALUES = {
  share: (value, decimals = 1) => (100 * value).toFixed(decimals),
  fit: (value, decimals = 2) => writeMinus(value.toFixed(decimals)),
  cosine: (value) => writeMinus(value.toFixed(2)),
  decades: formatShort,
  plain: formatShort,
};
