// The loss along the steps that the rules would take, as a chart shows it. No page.

import { findInstrument } from "../state/instruments.js";
import { describeEnds } from "../state/series.js";

/** @import { LegendEntry } from "../state/series.js" */
/** @import { Request, State } from "../state/state.js" */

export const SEARCH = "line_search"; // the key of the instrument
const ALONG = {
  title: { text: "length of the step, in lengths of all weights", standoff: 4 },
  unifiedhovertitle: { text: "%{x:.2g} of the weights" },
  type: "log",
  range: [-3, Math.log10(2)],
  tickmode: "array",
  tickvals: [0.001, 0.01, 0.1, 1],
  ticktext: ["0.001", "0.01", "0.1", "1"],
};

/**
 * The picture of the loss along the rules' steps.
 * @param {State} state
 * @param {LegendEntry[]} lines
 * @returns {import("./line-search-chart.js").Picture}
 */
export function searchOf({ view, requests }, lines) {
  const { label, sentence, limits } = findInstrument(SEARCH);
  const made = requests[SEARCH]?.run === view.id ? requests[SEARCH] : null;
  const answer = made?.answer ?? {};
  const series = lines.flatMap(({ key, label: name, colour }) => {
    const { distances: x, losses: y } = answer[key] ?? {};
    return x ? [{ name, rule: key, ends: true, colour, x, y }] : [];
  });
  const title = made ? `${label}, at step ${made.step}` : label;
  return {
    title,
    sentence,
    limits,
    measured: made !== null,
    offer: offerOf(made, view.status.step),
    chart: {
      run: `${view.id} ${made?.step}`,
      scale: { kind: "decades", title: "loss", chance: null, banded: false },
      series,
      steps: 0,
      along: ALONG,
      words: `${title}. ${describeEnds(series)}`,
      empty: answer.message ?? "Asking …",
      legend: "",
    },
  };
}

/**
 * The text of the button that measures; "" for none.
 * @param {Request|null} made
 * @param {number} step of the nets now
 */
function offerOf(made, step) {
  if (!made) return "Measure";
  return made.step !== step || (made.answer && "message" in made.answer) ? "Measure again" : "";
}
