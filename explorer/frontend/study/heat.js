// The heat map of a study as data: scores, with one row per backward rule and one column per learning rate.

import { formatPassedShare, formatShort } from "../formula/numbers.js";
import { getSubject, toTrainQuery } from "./rows.js";
import { hasEqualFooting } from "./settings.js";

/** @import { Cell } from "../train/state/records.js" */
/** @import { Line, Subject } from "./rows.js" */
/** @import { State } from "./state.js" */
/**
 * The contents of the heat map.
 * @typedef {{text: string, mark: string, words: string, query: string, shade: number|null, diverged: boolean, chosen:
 *   boolean}} HeatCell one score; ``text``: the score, "diverged" if all seeds have, or "–"; ``mark``: how many seeds
 *   diverged, or ""; ``words``: a complete description; ``query``: the query of a link to the trial on the page Train;
 *   ``shade``: a fraction, null without a score; ``chosen``: whether the rule is evaluated at this rate
 * @typedef {{line: Line, share: string, cells: HeatCell[]}} Row one rule; ``share``: mean size of its gradient relative
 *   to straight-through's before the first step, as text
 * @typedef {{heading: string, legend: string, rates: string[], rows: Row[], busy: boolean}} Heat the whole heat map;
 *   ``busy``: whether there are results, and so shares
 */

const MIN_SPAN = 0.1; // the lightest and the darkest shade differ by at least this score
const MISSING = "–";
const LEGEND = "Framed: the rate each rule is judged at. A cell opens as a run on Train.";
const SHARES =
  "Share: how large the rule's gradient is relative to straight-through's, at the start weights of seed 0.";
const DIVIDED =
  "Each rule is trained at these rates divided by its share; one without a share above 0, at the rates.";

/** Return the contents of a study's heat map of scores. @param {State} state @returns {Heat} */
export function buildHeatMap(state) {
  const subject = getSubject(state);
  const { results } = state.view.status;
  const scoredCells = results?.cells ?? [];
  const metric = results?.metric ?? "accuracy";
  const shade = createShading(scoredCells);
  const judged = results?.judged ?? [];
  const judgedRates = new Map(judged.map(({ rule, lr }) => [rule, lr]));
  const shares = new Map(judged.map(({ rule, share }) => [rule, share]));
  const rows = subject.lines.map((line) => ({
    line,
    share: formatShare(shares.get(line.key)),
    cells: subject.rates.map((lr) => {
      const cell = scoredCells.find((each) => each.rule === line.key && each.lr === lr);
      const isChosen = judgedRates.get(line.key) === lr;
      const share = hasEqualFooting(subject.choice) ? shares.get(line.key) : 1;
      return makeCell(subject, line, lr, cell, {
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
    heading: makeHeading(metric, results?.seeds ?? 0, results?.chance ?? null),
    legend: [LEGEND, results ? SHARES : "", hasEqualFooting(subject.choice) ? DIVIDED : ""]
      .filter(Boolean)
      .join(" "),
    rates: subject.rates.map(formatShort),
    rows,
    busy: results !== null,
  };
}

/** @param {string} metric @param {number} seeds @param {number|null} chance the score of random guessing, or null */
function makeHeading(metric, seeds, chance) {
  const label = metric === "accuracy" ? "Validation accuracy, %" : `Validation ${metric}`;
  if (!seeds) return label;
  const guess = chance === null ? "" : `; chance is ${formatScore(chance, metric, 0)}`;
  return (seeds === 1 ? `${label}, one seed` : `${label}: mean of ${seeds} seeds`) + guess;
}

/**
 * Return a function that maps a score to a shade from 0 to 1, relative to all scores.
 * @param {Cell[]} cells @returns {(score: number) => number}
 */
function createShading(cells) {
  const scores = cells.flatMap(({ mean }) => (mean === null ? [] : [mean]));
  const high = scores.reduce((max, score) => Math.max(max, score), -Infinity);
  const low = Math.min(
    scores.reduce((min, score) => Math.min(min, score), Infinity),
    high - MIN_SPAN,
  );
  return (score) => (score - low) / (high - low);
}

/**
 * @param {Subject} subject @param {Line} line @param {number} lr
 * @param {Cell|undefined} cell the server's result, undefined before a net is trained
 * @param {{trained: number, metric: string, decimals: number, shade: (score: number) => number, isChosen: boolean,
 *   seeds: number}} among ``trained``: the rate used in training, which is ``lr`` ÷ share with equal footing
 * @returns {HeatCell}
 */
function makeCell({ choice }, line, lr, cell, { trained, metric, decimals, shade, isChosen, seeds }) {
  const divided = trained === lr ? "" : ` ÷ its share = ${formatShort(trained)}`;
  const place = `${line.label} at lr ${formatShort(lr)}${divided}`;
  const query = toTrainQuery(choice, line, trained);
  const common = { query, chosen: isChosen, diverged: false, mark: "" };
  if (!cell) return { ...common, text: MISSING, words: `${place}: not yet trained`, shade: null };
  const divergence = cell.diverged ? `, ${cell.diverged} of ${seeds} seeds diverged` : "";
  if (cell.mean === null) {
    const words = `${place}: ${cell.diverged ? "every seed diverged" : "no score"}`;
    return { ...common, text: "diverged", words, shade: null, diverged: true };
  }
  const text = formatScore(cell.mean, metric, decimals);
  const unit = metric === "accuracy" ? " %" : "";
  const progress = cell.seeds < seeds ? `, ${cell.seeds} of ${seeds} seeds so far` : "";
  const judging = isChosen ? ", the rate it is judged at" : "";
  const words = `${place}: ${text}${unit}${progress}${divergence}${judging}`;
  return { ...common, text, mark: cell.diverged ? `${cell.diverged} ✕` : "", words, shade: shade(cell.mean) };
}

/** @param {number|null|undefined} share */
const formatShare = (share) => (typeof share === "number" ? formatPassedShare(share) : MISSING);

/**
 * Format a score, an accuracy in percent.
 * @param {number} score @param {string|null} metric @param {number} decimals the number of decimals
 */
function formatScore(score, metric, decimals) {
  return (metric === "accuracy" ? 100 * score : score).toFixed(decimals);
}
