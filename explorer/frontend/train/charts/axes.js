// Axes of values by their kind: ranges that only grow, ticks, and how a value is written. No page.

import { formatPower, formatShort } from "../../formula/numbers.js";

/** @import { Series } from "../state/series.js" */
/** @typedef {[number, number]} Range */
/**
 * An axis of values: ``share`` from 0 to 1 and read in percent, ``fit`` at most 1, ``cosine`` from −1 to 1,
 * ``decades`` above 0, ``plain`` any. ``chance`` is what guessing gives, where that is known; ``banded`` says
 * whether there are bands over seeds, ``heldOut`` whether values are of held-out data, which are all written with
 * so many ``decimals``.
 * @typedef {{kind: "share"|"fit"|"cosine"|"decades"|"plain", title: string, chance: number|null,
 *   banded: boolean, heldOut?: boolean, decimals?: number}} Scale
 */

const MARGIN = 0.05; // of what values span, above and below them
const WORST = 3; // decades above the first visible value: a rule that diverges shall not flatten the others
const HIGH_CHANCE = 0.4; // beyond which the axis begins here and not at 0
/** Letters of a value, so that its width stays. @type {{[kind in Scale["kind"]]: number}} */
export const VALUE_LETTERS = { share: 5, fit: 5, cosine: 5, decades: 6, plain: 6 };

/** Ticks by kind of axis. @type {{[kind in Scale["kind"]]: (range: Range) => *}} */
export const AXES = {
  share: (range) => evenly(range, (value) => String(Math.round(100 * value))),
  fit: (range) => evenly(range, (value) => String(Math.round(100 * value) / 100).replace("-", "−")),
  cosine: (range) => evenly(range, (value) => String(value).replace("-", "−")),
  decades,
  plain: () => ({ type: "linear", nticks: 5 }),
};

/** @param {Range} range @param {(value: number) => string} text */
function evenly([low, high], text) {
  const step =
    [0.1, 0.2, 0.25, 0.5].find((each) => (high - low) / each <= 4.01) ?? Math.ceil((high - low) / 4);
  const tickvals = [];
  for (let value = high; value >= low - 1e-9; value -= step)
    tickvals.unshift(Math.abs(value) < 1e-9 ? 0 : value);
  return { type: "linear", tickmode: "array", tickvals, ticktext: tickvals.map(text) };
}

/** Lines at 1, 2, 5 or at decades, as there is space. @param {Range} range */
function decades([low, high]) {
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
 * Ranges that hold all series, and only ever grow.
 * @type {{[kind in Scale["kind"]]: (range: Range|null, series: Series[], scale: Scale) => Range|null}}
 */
export const RANGES = {
  /** From 0, or from a little below chance where that is high. */
  share(range, series, { chance }) {
    const start = (chance ?? 0) > HIGH_CHANCE ? HIGH_CHANCE : 0;
    return [Math.min(range?.[0] ?? start, leastOf(series) < start ? 0 : start), 1];
  },
  /** From 0, or from −1 where a rule does worse than the mean: how much worse is of no interest. */
  fit: (range, series) => [Math.min(range?.[0] ?? 0, leastOf(series) < 0 ? -1 : 0), 1],
  /** From 0, or as far below as it takes in halves. */
  cosine: (range, series) => [Math.min(range?.[0] ?? 0, Math.floor(2 * Math.min(leastOf(series), 0)) / 2), 1],
  /** Whole decades, but for what is far above where a series began. */
  decades(range, series) {
    let [low, high] = range ?? [Infinity, -Infinity];
    for (const { y } of series) {
      const values = Array.from(y).filter((value) => value > 0);
      if (!values.length) continue;
      const most = Math.log10(values[0]) + WORST;
      for (const value of values.filter(Number.isFinite)) {
        low = Math.min(low, Math.floor(Math.log10(value)));
        high = Math.max(high, Math.ceil(Math.min(Math.log10(value), most)));
      }
    }
    return low > high ? null : [low, Math.max(high, low + 1)];
  },
  /** All values, with a little margin. */
  plain(range, series) {
    const values = series.flatMap(({ y }) => Array.from(y).filter(Number.isFinite));
    if (!values.length) return range;
    const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
    const margin = MARGIN * (high - low || Math.abs(high) || 1);
    return [Math.min(range?.[0] ?? Infinity, low - margin), Math.max(range?.[1] ?? -Infinity, high + margin)];
  },
};

/** The least value, infinite where there is none. @param {Series[]} series */
function leastOf(series) {
  return series
    .flatMap(({ y }) => Array.from(y))
    .reduce((least, value) => (value < least ? value : least), Infinity);
}

/**
 * The text of a value at the end of its curve; ``decimals`` are those of scores that are compared.
 * @type {{[kind in Scale["kind"]]: (value: number, decimals?: number) => string}}
 */
export const VALUES = {
  share: (value, decimals = 1) => (100 * value).toFixed(decimals),
  fit: (value, decimals = 2) => value.toFixed(decimals).replace("-", "−"),
  cosine: (value) => value.toFixed(2).replace("-", "−"),
  decades: formatShort,
  plain: (value) => formatShort(value).replace("-", "−"),
};
