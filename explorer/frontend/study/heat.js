// The heat map of a study as plain data: a line a rule, a column a rate. No page.

import { passedText, shortText } from "../formula/numbers.js";
import { subjectOf, trainQuery } from "./rows.js";
import { isEqual } from "./settings.js";

/** @import { Cell } from "../train/state/records.js" */
/** @import { Line, Subject } from "./rows.js" */
/** @import { State } from "./state.js" */
/**
 * One cell: ``text`` stands in it, ``words`` say all of it, ``query`` opens it on Train, ``shade`` is from 0
 * to 1, null where there is no score; ``chosen`` is the rate of its line.
 * @typedef {{text: string, mark: string, words: string, query: string, shade: number|null,
 *   diverged: boolean, chosen: boolean}} Drawn
 * ``share`` is how large the gradient of a line's rule is beside straight-through's before the first step, in words.
 * @typedef {{line: Line, share: string, cells: Drawn[]}} Row
 * @typedef {{heading: string, legend: string, rates: string[], rows: Row[], busy: boolean}} Heat
 */

const LEAST_SPAN = 0.1; // of scores from the lightest to the darkest: less is no difference worth a colour
const NOT_YET = "–";
const LEGEND = "Framed: the rate each rule is judged at. A cell opens as a run on Train.";
const SHARES =
  "Share: how large the rule's gradient is beside straight-through's, at the start weights of seed 0.";
const DIVIDED =
  "Each rule is trained at these rates divided by its share; one without a share above 0, at the rates.";

/** @param {State} state @returns {Heat} */
export function heatOf(state) {
  const subject = subjectOf(state);
  const { results } = state.view.status;
  const known = results?.cells ?? [];
  const metric = results?.metric ?? "accuracy";
  const shade = shadesOf(known);
  const judged = results?.judged ?? [];
  const chosen = new Map(judged.map(({ rule, lr }) => [rule, lr]));
  const shares = new Map(judged.map(({ rule, share }) => [rule, share]));
  const rows = subject.lines.map((line) => ({
    line,
    share: passed(shares.get(line.key)),
    cells: subject.rates.map((lr) => {
      const cell = known.find((each) => each.rule === line.key && each.lr === lr);
      const isChosen = chosen.get(line.key) === lr;
      const share = isEqual(subject.choice) ? shares.get(line.key) : 1;
      return drawn(subject, line, lr, cell, {
        trained: share ? lr / share : lr,
        metric,
        decimals: results?.decimals ?? 1,
        shade,
        isChosen,
        seeds: results?.seeds ?? 0,
      });
    }),
  }));
  return {
    heading: headingOf(metric, results?.seeds ?? 0),
    legend: [LEGEND, results ? SHARES : "", isEqual(subject.choice) ? DIVIDED : ""].filter(Boolean).join(" "),
    rates: subject.rates.map(shortText),
    rows,
    busy: results !== null,
  };
}

/** @param {string} metric @param {number} seeds */
function headingOf(metric, seeds) {
  const what = metric === "accuracy" ? "Validation accuracy, %" : `Validation ${metric}`;
  if (!seeds) return what;
  return seeds === 1 ? `${what}, one seed` : `${what}: mean of ${seeds} seeds`;
}

/** The shade of a score among others. @param {Cell[]} cells @returns {(score: number) => number} */
function shadesOf(cells) {
  const scores = cells.flatMap(({ mean }) => (mean === null ? [] : [mean]));
  const high = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const low = Math.min(
    scores.reduce((least, score) => Math.min(least, score), Infinity),
    high - LEAST_SPAN,
  );
  return (score) => (score - low) / (high - low);
}

/**
 * @param {Subject} subject
 * @param {Line} line
 * @param {number} lr
 * @param {Cell|undefined} cell
 * @param {{trained: number, metric: string, decimals: number, shade: (score: number) => number, isChosen: boolean,
 *   seeds: number}} among ``trained`` is the rate that its nets have, which is not ``lr`` on an equal footing
 * @returns {Drawn}
 */
function drawn({ choice }, line, lr, cell, { trained, metric, decimals, shade, isChosen, seeds }) {
  const divided = trained === lr ? "" : ` ÷ its share = ${shortText(trained)}`;
  const at = `${line.label} at lr ${shortText(lr)}${divided}`;
  const query = trainQuery(choice, line, trained);
  const common = { query, chosen: isChosen, diverged: false, mark: "" };
  if (!cell) return { ...common, text: NOT_YET, words: `${at}: not yet trained`, shade: null };
  const lost = cell.diverged ? `, ${cell.diverged} of ${seeds} seeds diverged` : "";
  if (cell.mean === null) {
    const words = `${at}: ${cell.diverged ? "every seed diverged" : "no score"}`;
    return { ...common, text: "diverged", words, shade: null, diverged: true };
  }
  const text = scoreText(cell.mean, metric, decimals);
  const unit = metric === "accuracy" ? " %" : "";
  const many = cell.seeds < seeds ? `, ${cell.seeds} of ${seeds} seeds so far` : "";
  const choosing = isChosen ? ", the rate it is judged at" : "";
  const words = `${at}: ${text}${unit}${many}${lost}${choosing}`;
  return { ...common, text, mark: cell.diverged ? `${cell.diverged} ✕` : "", words, shade: shade(cell.mean) };
}

/** @param {number|null|undefined} share */
const passed = (share) => (typeof share === "number" ? passedText(share) : NOT_YET);

/** A score with as many decimals as those that it is compared with. @param {number} score @param {string|null} metric @param {number} decimals */
export function scoreText(score, metric, decimals) {
  return (metric === "accuracy" ? 100 * score : score).toFixed(decimals);
}
