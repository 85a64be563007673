// A training run's curves as Plotly traces, with bands and tooltips.

import { escapeHtml } from "../../chart/plotly/plotly.js";
import { traceBand } from "../state/series.js";

/** @import { Series } from "../state/series.js" */
/** @import { Scale } from "./axes.js" */

const BAND = "24"; // opacity of a band, as the last two digits of a hexadecimal colour
const TINY = 1e-30; // in place of values that a logarithmic axis cannot show

/** Return whether a curve has a band over seeds. @param {Series} series */
export function hasBand({ low = [] }) {
  return Array.from(low).some(Number.isFinite);
}

/** Return Plotly's trace of a curve. @param {Series} series @param {Scale} scale */
export function makeCurveTrace(series, scale) {
  const { name, meta, colour, x, y, dash, faint, symbol } = series;
  const line = { color: colour, width: faint ? 1.5 : 2.2, dash: dash ?? "solid" };
  const marker = { color: colour, size: symbol ? 10 : 7, ...(symbol && { symbol, line: { width: 2 } }) };
  return {
    name: escapeHtml(name),
    x,
    y,
    type: "scatter",
    mode: symbol ? "markers" : x.length > 1 ? "lines" : "lines+markers",
    opacity: faint ? 0.3 : 1,
    line,
    marker,
    ...formatTooltip(scale, series),
    ...(meta && { meta }),
    ...((faint || symbol) && { hoverinfo: "skip", hovertemplate: null }),
  };
}

/**
 * Return Plotly's template of a curve's tooltip, with the spread over seeds if there are several.
 * @param {Scale} scale @param {Series} series
 */
function formatTooltip({ kind, decimals }, series) {
  const { y, low = [], high = [] } = series;
  const [times, unit] = kind === "share" ? [100, " %"] : [1, ""];
  const format = kind === "share" ? `.${decimals ?? 1}f` : kind === "fit" ? `.${decimals ?? 2}f` : ".4~g";
  const show = (/** @type {number} */ index) => `%{customdata[${index}]:${format}}`;
  const band = kind === "decades" ? `, seeds ${show(2)} to ${show(3)}` : ` ± ${show(1)}`;
  return {
    customdata: Array.from(y, (value, at) =>
      [value, high[at] - value || 0, low[at], high[at]].map((each) => times * each),
    ),
    hovertemplate: `${show(0)}${hasBand(series) ? band : ""}${unit}`,
  };
}

/** Return Plotly's trace of the band over seeds around a curve. @param {Series} series @param {Scale} scale */
export function makeBandTrace(series, { kind }) {
  const clamp = (/** @type {number} */ value) =>
    kind === "decades" ? Math.max(value, TINY) : Math.min(value, 1);
  return {
    ...traceBand(series, clamp),
    type: "scatter",
    mode: "lines",
    fill: "toself",
    fillcolor: `${series.colour}${BAND}`,
    line: { color: series.colour, width: 0 },
    hoverinfo: "skip",
    name: "",
  };
}
