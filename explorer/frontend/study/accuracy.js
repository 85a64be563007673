// The score of each rule with its interval, as plain data: a line a rule. No page.

import { shortText } from "../formula/numbers.js";
import { scoreText } from "./heat.js";
import { subjectOf } from "./rows.js";

/** @import { Judgement as Judged } from "../train/state/records.js" */
/** @import { State } from "./state.js" */
/**
 * A point: ``half`` is half the width of its interval, null where there is none; ``sure`` says that it is judged.
 * @typedef {{score: number, half: number|null, sure: boolean, words: string}} Point
 * A rule on its line, from the top; ``point`` is null before one of its nets is trained.
 * @typedef {{key: string, name: string, colour: string, control: boolean, point: Point|null}} Series
 * The picture: ``firstControl`` is the line of the first control, -1 where there is none.
 * @typedef {{heading: string, words: string, title: string, share: boolean, chance: number|null,
 *   firstControl: number, series: Series[], empty: string}} Picture
 */

/** @param {State} state @returns {Picture} */
export function accuracyOf(state) {
  const { results } = state.view.status;
  const { lines } = subjectOf(state);
  const metric = results?.metric ?? "accuracy";
  const series = lines.map(({ key, label: name, colour, control }) => {
    const judgement = results?.judged.find((each) => each.rule === key);
    const point = judgement && results ? pointOf(judgement, name, results) : null;
    return { key, name, colour, control, point };
  });
  const seeds = results?.seeds ?? 0;
  return {
    heading: headingOf(metric, seeds),
    title: metric === "accuracy" ? "accuracy, %" : metric,
    share: metric === "accuracy",
    chance: results?.chance ?? null,
    firstControl: lines.findIndex(({ control }) => control),
    series,
    words: [headingOf(metric, seeds), ...series.flatMap(({ point }) => (point ? [point.words] : []))].join(
      ". ",
    ),
    empty: "A rule appears here as soon as one of its nets is trained",
  };
}

/** @param {string} metric @param {number} seeds */
function headingOf(metric, seeds) {
  const what = metric === "accuracy" ? "Held-out accuracy" : `Held-out ${metric}`;
  return seeds > 1 ? `${what}: mean of ${seeds} other seeds, 95 % interval` : what;
}

/** @param {Judged} judged @param {string} name @param {import("../train/state/records.js").Results} of @returns {Point|null} */
function pointOf({ mean, half, validation, lr }, name, { metric, decimals }) {
  const unit = metric === "accuracy" ? " %" : "";
  const rate = lr === null ? "" : ` at lr ${shortText(lr)}`;
  if (mean !== null) {
    const interval = half === null ? "" : ` ± ${scoreText(half, metric, decimals)}`;
    const words = `${name}: ${scoreText(mean, metric, decimals)}${interval}${unit} held-out${rate}`;
    return { score: mean, half, sure: true, words };
  }
  if (validation === null) return null;
  const words = `${name}: ${scoreText(validation, metric, decimals)}${unit} validation so far${rate}, not yet judged`;
  return { score: validation, half: null, sure: false, words };
}
