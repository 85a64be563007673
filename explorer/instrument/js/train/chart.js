// A chart of series over the steps of a run, on a log axis that only ever grows.

import { powerText, shortText } from "../formula/numbers.js";
import { centred, createPlot } from "./plot.js";
import { escaped } from "../chart/traces.js";

/**
 * A series. ``meta`` is the rule's key, where it is the curve of a rule.
 * @typedef {{name: string, meta?: string, colour: string, x: ArrayLike<number>, y: ArrayLike<number>,
 *   dash?: string, faint?: boolean}} Series
 * A picture: ``run`` names the run it is of, ``words`` are for those who cannot see it, and ``empty`` is
 * said before the first value, ``legend`` beside the curves.
 * @typedef {{run: string|null, series: Series[], steps: number, words: string, empty: string,
 *   legend?: string}} Picture
 */

const FEW = 10; // steps, between which Plotly would mark fractions of a step
const WORST = 3; // decades above the first value that are shown: a rule that diverges shall not flatten the others

/**
 * @param {HTMLElement} host of a fixed height
 * @param {{plotly: string, title: string}} options ``plotly`` is the address of plotly.js
 */
export function createTrainChart(host, { plotly, title }) {
  let run = /** @type {string|null} */ (null);
  let decades = /** @type {[number, number]|null} */ (null);
  return createPlot(host, { plotly, hover: true, compose });

  /** @param {Picture} picture */
  function compose({ run: name, series, steps, empty, legend = "" }) {
    if (run !== name) decades = null;
    run = name;
    decades = grown(decades, series);
    const axis = { visible: decades !== null };
    const layout = {
      hovermode: "x unified",
      xaxis: {
        ...axis,
        title: { text: "step", standoff: 4 },
        range: [0, Math.max(steps, 1)],
        ...(steps < FEW && { dtick: 1 }),
      },
      yaxis: {
        ...axis,
        title: { text: title, standoff: 6 },
        type: "log",
        ...ticks(decades),
        range: decades ?? [0, 1],
      },
      annotations: [
        decades ? { ...centred(legend), x: 1, y: 1, xanchor: "right", yanchor: "top" } : centred(empty),
      ],
    };
    return { traces: series.map(traceOf), layout };
  }
}

/** Lines at 1, 2, 5 or at decades, as there is room. @param {[number, number]|null} range */
function ticks(range) {
  const [low, high] = range ?? [0, 0];
  const stride = Math.ceil((high - low) / 8);
  const decades = Array.from({ length: high - low + 1 }, (_, at) => low + at).filter(
    (_, at) => at % stride === 0,
  );
  const fine = high - low <= 2;
  const tickvals = decades.flatMap((at) => (fine ? [1, 2, 5] : [1]).map((factor) => factor * 10 ** at));
  const ticktext = fine ? tickvals.map(shortText) : decades.map(powerText);
  return { tickmode: "array", tickvals, ticktext };
}

/** @param {Series} series */
function traceOf({ name, meta, colour, x, y, dash, faint }) {
  const common = {
    name: escaped(name),
    x,
    y,
    type: "scatter",
    mode: x.length > 1 ? "lines" : "lines+markers",
    opacity: faint ? 0.3 : 1,
  };
  const line = { color: colour, width: faint ? 1.5 : 2, dash: dash ?? "solid" };
  return {
    ...common,
    line,
    marker: { color: colour, size: 7 },
    ...(meta && { meta }),
    ...(faint && { hoverinfo: "skip" }),
  };
}

/**
 * Whole decades that hold a range and all series, but for what is far above where a series began.
 * @param {[number, number]|null} range
 * @param {Series[]} series
 * @returns {[number, number]|null}
 */
function grown(range, series) {
  let [low, high] = range ?? [Infinity, -Infinity];
  for (const { y } of series) {
    const values = Array.from(y);
    const first = values.find((value) => value > 0);
    if (first === undefined) continue;
    const most = Math.log10(first) + WORST;
    for (const value of values) {
      if (!(value > 0) || !Number.isFinite(value)) continue;
      low = Math.min(low, Math.floor(Math.log10(value)));
      high = Math.max(high, Math.ceil(Math.min(Math.log10(value), most)));
    }
  }
  return low > high ? null : [low, Math.max(high, low + 1)];
}
