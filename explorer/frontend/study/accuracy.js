// Builds the data of the chart that shows each rule's score with a confidence interval.

import { formatShort } from "../formula/numbers.js";
import { formatScore } from "./heat.js";
import { getSubject } from "./rows.js";

/** @import { Judgement as Judged } from "../train/state/records.js" */
/** @import { State } from "./state.js" */
/**
 * A point: ``half`` is half the width of its interval, or null without one; ``sure`` says that the rule is judged.
 * @typedef {{score: number, half: number|null, sure: boolean, words: string}} Point
 * A rule with its point, in order from the top; ``point`` is null before one of its nets is trained.
 * @typedef {{key: string, name: string, colour: string, control: boolean, point: Point|null}} Series
 * The picture: ``firstControl`` is the index of the first control, or -1; ``share`` says that scores are fractions.
 * @typedef {{heading: string, words: string, title: string, share: boolean, chance: number|null,
 *   firstControl: number, series: Series[], empty: string}} Picture
 */

/** Build the data of the chart of each rule's score. @param {State} state @returns {Picture} */
export function buildAccuracyChart(state) {
  const { results } = state.view.status;
  const { lines } = getSubject(state);
  const metric = results?.metric ?? "accuracy";
  const series = lines.map(({ key, label: name, colour, control }) => {
    const judgement = results?.judged.find((each) => each.rule === key);
    const point = judgement && results ? makeScorePoint(judgement, name, results) : null;
    return { key, name, colour, control, point };
  });
  const seeds = results?.seeds ?? 0;
  return {
    heading: makeHeading(metric, seeds),
    title: metric === "accuracy" ? "accuracy, %" : metric,
    share: metric === "accuracy",
    chance: results?.chance ?? null,
    firstControl: lines.findIndex(({ control }) => control),
    series,
    words: [makeHeading(metric, seeds), ...series.flatMap(({ point }) => (point ? [point.words] : []))].join(
      ". ",
    ),
    empty: "A rule appears here as soon as one of its nets is trained",
  };
}

/** @param {string} metric @param {number} seeds */
function makeHeading(metric, seeds) {
  const label = metric === "accuracy" ? "Held-out accuracy" : `Held-out ${metric}`;
  return seeds > 1 ? `${label}: mean of ${seeds} other seeds, 95 % interval` : label;
}

/**
 * Return a rule's point in the chart: its held-out score, or its validation score if it is not evaluated yet.
 * @param {Judged} judged
 * @param {string} name
 * @param {import("../train/state/records.js").Results} of
 * @returns {Point|null} null without a score
 */
function makeScorePoint({ mean, half, validation, lr }, name, { metric, decimals }) {
  const unit = metric === "accuracy" ? " %" : "";
  const rate = lr === null ? "" : ` at lr ${formatShort(lr)}`;
  if (mean !== null) {
    const interval = half === null ? "" : ` ± ${formatScore(half, metric, decimals)}`;
    const words = `${name}: ${formatScore(mean, metric, decimals)}${interval}${unit} held-out${rate}`;
    return { score: mean, half, sure: true, words };
  }
  if (validation === null) return null;
  const words = `${name}: ${formatScore(validation, metric, decimals)}${unit} validation so far${rate}, not yet judged`;
  return { score: validation, half: null, sure: false, words };
}
