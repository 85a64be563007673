// The share of quantised weights that end as straight-through's do, by rule and rate, as plain data. No page.

import { passedText } from "../formula/numbers.js";

/** @import { Heat } from "./heat.js" */
/** @import { State } from "./state.js" */

export const SOURCE = "https://arxiv.org/abs/2405.05171";
const HEADING = "Quantised weights equal to straight-through's";
const LEGEND =
  "After the same steps, at the same rate, with the same seeds: of all weights as the op returns them, and in " +
  "brackets of those that straight-through changed.";
export const LIMITS =
  "Schoenbauer et al. (2024) prove for many rules that at small rates both train alike: under Adam as they are, under " +
  "SGD once start weights and rate are adjusted. How small is small they do not say for this net.";

/**
 * @param {State} state
 * @param {Heat} heat whose lines and rates it has
 * @returns {Heat|null} null where the op does not stand on weights, or nothing is known yet
 */
export function agreementOf({ view }, heat) {
  const cells = view.status.results?.cells ?? [];
  if (!cells.some(({ agree }) => agree !== null)) return null;
  const rates = view.status.results?.lrs ?? [];
  const rows = heat.rows.map((row) => ({
    ...row,
    cells: row.cells.map((drawn, at) => {
      const { key, value } = row.line;
      const cell = cells.find((each) => each.rule === key && each.value === value && each.lr === rates[at]);
      const agree = cell?.agree ?? null;
      const changed = cell?.agreeChanged ?? null;
      const mark = changed === null ? "" : `(${passedText(changed)})`;
      const text = agree === null ? "–" : passedText(agree);
      const name = drawn.words.split(":")[0];
      const words = agree === null ? `${name}: not known` : `${name}: ${text} of all weights ${mark}`.trim();
      return { ...drawn, text, mark, words, shade: agree, diverged: false };
    }),
  }));
  return { heading: HEADING, legend: LEGEND, rates: heat.rates, rows, busy: false };
}
