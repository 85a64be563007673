// The score of each rule with its interval, as plain data: a line a rule, or a curve over the swept values. No page.

import { shortText } from "../formula/numbers.js";
import { scoreText } from "./heat.js";
import { lineName, shortName, subjectOf } from "./rows.js";

/** @import { Judgement as Judged } from "../train/state/records.js" */
/** @import { Line } from "./rows.js" */
/** @import { State } from "./state.js" */
/**
 * A point: ``at`` is the line it stands on, or the swept value, null where the rule has none.
 * ``half`` is half the width of its interval, null where there is none; ``sure`` says that it is judged.
 * @typedef {{at: number|null, score: number, half: number|null, sure: boolean, words: string}} Point
 * @typedef {{key: string, name: string, colour: string, control: boolean, points: Point[]}} Series
 * The picture: ``names`` are those of the lines, "" in a sweep.
 * @typedef {{heading: string, words: string, title: string, share: boolean, decimals: number, chance: number|null,
 *   sweep: string, values: number[], names: string[], firstControl: number, series: Series[], empty: string}} Picture
 */

/** @param {State} state @returns {Picture} */
export function accuracyOf(state) {
  const { results } = state.view.status;
  const { lines, sweep } = subjectOf(state);
  const metric = results?.metric ?? "accuracy";
  const judged = results?.judged ?? [];
  const isSwept = lines.some(({ value }) => value !== null);
  const series = [...new Set(lines.map(({ key }) => key))].map((key) => {
    const own = lines.filter((line) => line.key === key);
    const { label: name, colour, control } = own[0];
    const points = own.flatMap((line) => {
      const judgement = judged.find((each) => each.rule === key && each.value === line.value);
      const at = isSwept ? line.value : lines.indexOf(line);
      return judgement && results ? pointOf(judgement, at, lineName(line, sweep), results) : [];
    });
    return { key, name, colour, control, points };
  });
  const seeds = results?.seeds ?? 0;
  return {
    heading: headingOf(metric, seeds),
    title: metric === "accuracy" ? "accuracy, %" : metric,
    share: metric === "accuracy",
    decimals: results?.decimals ?? 1,
    chance: results?.chance ?? null,
    sweep: isSwept ? shortName(sweep) : "",
    values: [...new Set(lines.flatMap(({ value }) => (value === null ? [] : [value])))],
    names: isSwept ? [] : lines.map(({ label }) => label),
    firstControl: isSwept ? -1 : lines.findIndex(({ control }) => control),
    series,
    words: [
      headingOf(metric, seeds),
      ...series.flatMap(({ points }) => points.map(({ words }) => words)),
    ].join(". "),
    empty: "A rule appears here as soon as one of its nets is trained",
  };
}

/** @param {string} metric @param {number} seeds */
function headingOf(metric, seeds) {
  const what = metric === "accuracy" ? "Held-out accuracy" : `Held-out ${metric}`;
  return seeds > 1 ? `${what}: mean of ${seeds} other seeds, 95 % interval` : what;
}

/** @param {Judged} judged @param {number|null} at @param {string} name @param {import("../train/state/records.js").Results} of @returns {Point[]} */
function pointOf({ mean, half, validation, lr }, at, name, { metric, decimals }) {
  const unit = metric === "accuracy" ? " %" : "";
  const rate = lr === null ? "" : ` at lr ${shortText(lr)}`;
  if (mean !== null) {
    const interval = half === null ? "" : ` ± ${scoreText(half, metric, decimals)}`;
    const words = `${name}: ${scoreText(mean, metric, decimals)}${interval}${unit} held-out${rate}`;
    return [{ at, score: mean, half, sure: true, words }];
  }
  if (validation === null) return [];
  const words = `${name}: ${scoreText(validation, metric, decimals)}${unit} validation so far${rate}, not yet judged`;
  return [{ at, score: validation, half: null, sure: false, words }];
}
