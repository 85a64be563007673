// The distances of rules from the highest, seed by seed, as plain data. No page.

import { find } from "../choice/entries.js";
import { scoreText } from "./heat.js";
import { subjectOf } from "./rows.js";

/** @import { Distance } from "../train/state/records.js" */
/** @import { State } from "./state.js" */
/**
 * A row: ``seeds``, ``middle`` and the ends of the interval are shares of the axis, null where there is none.
 * @typedef {{key: string, name: string, note: string, colour: string, seeds: number[], middle: number|null,
 *   ends: [number, number]|null, words: string}} Row
 * An axis with its ticks, and where on it the highest rule is.
 * @typedef {{heading: string, rows: Row[], ticks: {at: number, text: string}[], zero: number}} Panel
 * The picture: the rules on a zoomed axis; the default and controls on one of their own, null where there are none.
 * @typedef {{headline: string, equal: string[], near: Panel|null, far: Panel|null}} Picture
 */

const AIR = 0.06; // of an axis, beside what is drawn
const MOST_TICKS = 8;
const STEPS = [1, 2, 5];

/** @param {State} state @returns {Picture|null} null before a seed has judged all rules */
export function differencesOf(state) {
  const { results } = state.view.status;
  if (!results?.differences.length) return null;
  const { lines } = subjectOf(state);
  const [best, ...others] = results.differences;
  const times = results.metric === "accuracy" ? 100 : 1;
  const nameOf = (/** @type {string} */ key) => lines.find((line) => line.key === key)?.label ?? key;
  const isFar = (/** @type {Distance} */ each) =>
    each.control || (each.standing === "lower" && find("rule", each.rule)?.formula === null);
  const panel = (/** @type {string} */ heading, /** @type {Distance[]} */ some) => {
    if (!some.length) return null;
    const axis = axisOf(some, times);
    const rows = some.map((each) => {
      const line = lines.find(({ key }) => key === each.rule);
      const lr = results.judged.find(({ rule }) => rule === each.rule)?.lr ?? null;
      const unit = results.metric === "accuracy" ? " %" : "";
      const score = `${scoreText(each.mean, results.metric, results.decimals)}${unit}`;
      const known = each.low !== null && each.high !== null;
      return {
        key: each.rule,
        name: `${nameOf(each.rule)}${each.control ? " (control)" : ""}`,
        note: lr === null ? score : `${score} at lr ${lr}`,
        colour: line?.colour ?? "",
        seeds: each.seeds.map((value) => axis.at(times * value)),
        middle: each.middle === null ? null : axis.at(times * each.middle),
        ends: known
          ? /** @type {[number, number]} */ ([each.low, each.high].map((end) => axis.at(times * Number(end))))
          : null,
        words: each.words,
      };
    });
    return { heading, rows, ticks: axis.ticks, zero: axis.at(0) };
  };
  const what = times === 100 ? "Points of accuracy" : `${results.metric}`;
  return {
    headline: results.headline,
    equal: results.equal,
    near: panel(
      `${what} above or below ${nameOf(best.rule)}, seed by seed`,
      others.filter((each) => !isFar(each)),
    ),
    far: panel("On an axis of their own: default and the controls", others.filter(isFar)),
  };
}

/** @param {Distance[]} some @param {number} times */
function axisOf(some, times) {
  const all = some.flatMap(({ seeds, low, high, middle }) => [
    ...seeds,
    low ?? middle ?? 0,
    high ?? middle ?? 0,
  ]);
  const values = [0, ...all].map((value) => times * value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = most - least || 1;
  const [low, high] = [least - AIR * span, most + AIR * span];
  const at = (/** @type {number} */ value) => (value - low) / (high - low);
  const step = stepOf(high - low);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  const ticks = Array.from({ length: count }, (_, index) => {
    const value = Number(((first + index) * step).toPrecision(12));
    const text = `${value > 0 ? "+" : ""}${value}`.replace("-", "−");
    return { at: at(value), text };
  });
  return { at, ticks };
}

/** The least of 1, 2 and 5 times a power of ten with which an axis has few ticks. @param {number} span */
function stepOf(span) {
  const power = 10 ** Math.floor(Math.log10(span / MOST_TICKS));
  return [...STEPS, 10].map((each) => each * power).find((step) => span / step <= MOST_TICKS) ?? 10 * power;
}
