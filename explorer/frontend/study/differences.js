// Computes how far each rule's score is from the best rule's, for every random seed.

import { findEntry } from "../choice/entries.js";
import { formatScore } from "./heat.js";
import { getSubject } from "./rows.js";

/** @import { Distance } from "../train/state/records.js" */
/** @import { State } from "./state.js" */
/**
 * One rule's row in the chart of differences. ``seeds``, ``middle`` and the ends of the interval are positions on the
 * axis from 0 to 1, or null without an interval.
 * @typedef {{key: string, name: string, note: string, colour: string, seeds: number[], middle: number|null,
 *   ends: [number, number]|null, words: string}} Row
 * An axis with its ticks; ``zero`` is the position of the highest rule.
 * @typedef {{heading: string, rows: Row[], ticks: {at: number, text: string}[], zero: number}} Panel
 * The picture: most rules on a zoomed axis (``near``), the default and controls on a second one (``far``). A panel
 * without rules is null.
 * @typedef {{headline: string, equal: string[], near: Panel|null, far: Panel|null}} Picture
 */

const MARGIN = 0.06; // free space at each end of the axis, as a fraction of the data's range
const MAX_TICKS = 8;
const STEPS = [1, 2, 5];

/**
 * Return how far each rule's score is from that of the best rule, for every random seed.
 * @param {State} state
 * @returns {Picture|null} null before a seed has judged all rules
 */
export function listDifferences(state) {
  const { results } = state.view.status;
  if (!results?.differences.length) return null;
  const { lines } = getSubject(state);
  const [best, ...rest] = results.differences;
  const times = results.metric === "accuracy" ? 100 : 1;
  const nameOf = (/** @type {string} */ key) => lines.find((line) => line.key === key)?.label ?? key;
  const isFar = (/** @type {Distance} */ each) =>
    each.control || (each.standing === "lower" && findEntry("rule", each.rule)?.formula === null);
  const makePanel = (/** @type {string} */ heading, /** @type {Distance[]} */ distances) => {
    if (!distances.length) return null;
    const axis = createDifferenceAxis(distances, times);
    const rows = distances.map((each) => {
      const line = lines.find(({ key }) => key === each.rule);
      const lr = results.judged.find(({ rule }) => rule === each.rule)?.lr ?? null;
      const unit = results.metric === "accuracy" ? " %" : "";
      const score = `${formatScore(each.mean, results.metric, results.decimals)}${unit}`;
      const hasInterval = each.low !== null && each.high !== null;
      return {
        key: each.rule,
        name: `${nameOf(each.rule)}${each.control ? " (control)" : ""}`,
        note: lr === null ? score : `${score} at lr ${lr}`,
        colour: line?.colour ?? "",
        seeds: each.seeds.map((value) => axis.at(times * value)),
        middle: each.middle === null ? null : axis.at(times * each.middle),
        ends: hasInterval
          ? /** @type {[number, number]} */ ([each.low, each.high].map((end) => axis.at(times * Number(end))))
          : null,
        words: each.words,
      };
    });
    return { heading, rows, ticks: axis.ticks, zero: axis.at(0) };
  };
  const quantity = times === 100 ? "Points of accuracy" : `${results.metric}`;
  return {
    headline: results.headline,
    equal: results.equal,
    near: makePanel(
      `${quantity} above or below ${nameOf(best.rule)}, seed by seed`,
      rest.filter((each) => !isFar(each)),
    ),
    far: makePanel("On a separate axis: default and the controls", rest.filter(isFar)),
  };
}

/**
 * Create the axis of score differences: its ticks, and a function that maps a value to its position from 0 to 1.
 * @param {Distance[]} distances
 * @param {number} times factor from scores to the axis's unit: 100 for accuracies
 */
function createDifferenceAxis(distances, times) {
  const all = distances.flatMap(({ seeds, low, high, middle }) => [
    ...seeds,
    low ?? middle ?? 0,
    high ?? middle ?? 0,
  ]);
  const values = [0, ...all].map((value) => times * value);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const span = max - min || 1;
  const [low, high] = [min - MARGIN * span, max + MARGIN * span];
  const locate = (/** @type {number} */ value) => (value - low) / (high - low);
  const step = chooseStep(high - low);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  const ticks = Array.from({ length: count }, (_, index) => {
    const value = Number(((first + index) * step).toPrecision(12));
    const text = `${value > 0 ? "+" : ""}${value}`.replace("-", "−");
    return { at: locate(value), text };
  });
  return { at: locate, ticks };
}

/**
 * Choose the distance between axis ticks: the smallest of 1, 2 or 5 times a power of ten that gives few ticks.
 * @param {number} span
 */
function chooseStep(span) {
  const power = 10 ** Math.floor(Math.log10(span / MAX_TICKS));
  return [...STEPS, 10].map((each) => each * power).find((step) => span / step <= MAX_TICKS) ?? 10 * power;
}
