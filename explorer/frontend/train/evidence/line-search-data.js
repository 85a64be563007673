// Contents of the line search's chart: the loss along each rule's next optimiser step.

import { findInstrument } from "../state/instruments.js";
import { describeEnds } from "../state/series.js";

/** @import { LegendEntry } from "../state/series.js" */
/** @import { State } from "../state/state.js" */

export const SEARCH = "line_search"; // key of the instrument
const X_AXIS = {
  title: { text: "length of the step, in lengths of all weights", standoff: 4 },
  unifiedhovertitle: { text: "%{x:.2g} of the weights" },
  type: "log",
  range: [-3, Math.log10(2)],
  tickmode: "array",
  tickvals: [0.001, 0.01, 0.1, 1],
  ticktext: ["0.001", "0.01", "0.1", "1"],
};

/**
 * Return the contents of the line search's chart.
 * @param {State} state @param {LegendEntry[]} lines @returns {import("./view.js").SearchPicture}
 */
export function buildLineSearch({ view, requests }, lines) {
  const { label, sentence, limits } = findInstrument(SEARCH);
  const latest = requests[SEARCH]?.run === view.id ? requests[SEARCH] : null;
  const answer = latest?.answer ?? {};
  const series = lines.flatMap(({ key, label: name, colour }) => {
    const { distances: x, losses: y } = answer[key] ?? {};
    return x ? [{ name, rule: key, ends: true, colour, x, y }] : [];
  });
  const title = latest ? `${label}, at step ${latest.step}` : label;
  return {
    title,
    sentence,
    limits,
    measured: latest !== null,
    offer: !latest ? "Measure" : latest.step !== view.status.step || answer.message ? "Measure again" : "",
    chart: {
      run: `${view.id} ${latest?.step}`,
      scale: { kind: "decades", title: "loss", chance: null },
      series,
      steps: 0,
      along: X_AXIS,
      words: `${title}. ${describeEnds(series)}`,
      empty: answer.message ?? "Asking …",
      legend: "",
    },
  };
}
