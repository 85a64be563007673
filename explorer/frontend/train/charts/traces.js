// Series as Plotly's curves and bands, with the text under the pointer.

import { escapeHtml } from "../../chart/plotly/plotly.js";
import { bandOf } from "../state/series.js";

/** @import { Series } from "../state/series.js" */
/** @import { Scale } from "./axes.js" */

const BAND = "24"; // opacity, as the last two digits of a colour
const TINY = 1e-30; // replaces mean − SD below 0 on a logarithmic axis

/** Return whether a series has a band over seeds. @param {Series} series */
export function hasBand({ y, spread = [] }) {
  return Array.from(spread).some((deviation, at) => Number.isFinite(deviation) && Number.isFinite(y[at]));
}

/** Return the trace of a series. @param {Series} series @param {Scale} scale */
export function traceOf({ name, meta, colour, x, y, spread, dash, faint, symbol }, scale) {
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
    ...hoverOf(scale, y, spread),
    ...(meta && { meta }),
    ...((faint || symbol) && { hoverinfo: "skip", hovertemplate: null }),
  };
}

/**
 * Return the text under the pointer, formatted as in the sentences; with several seeds it includes the SD.
 * @param {Scale} scale
 * @param {ArrayLike<number>} y
 * @param {ArrayLike<number>} [spread]
 */
function hoverOf({ kind, decimals }, y, spread) {
  const [times, unit] = kind === "share" ? [100, " %"] : [1, ""];
  const format = kind === "share" ? `.${decimals ?? 1}f` : kind === "fit" ? `.${decimals ?? 2}f` : ".4~g";
  const hasSeeds = spread && Array.from(spread).some(Number.isFinite);
  const deviation = hasSeeds ? ` ± %{customdata[1]:${format}}` : "";
  return {
    customdata: Array.from(y, (value, at) => [times * value, times * (spread?.[at] ?? 0)]),
    hovertemplate: `%{customdata[0]:${format}}${deviation}${unit}`,
  };
}

/** Return the trace of mean ± SD over seeds. @param {Series} series @param {Scale} scale */
export function makeBandTrace(series, { kind }) {
  const clamp = (/** @type {number} */ value) =>
    kind === "decades" ? Math.max(value, TINY) : Math.min(value, 1);
  return {
    ...bandOf(series, clamp),
    type: "scatter",
    mode: "lines",
    fill: "toself",
    fillcolor: `${series.colour}${BAND}`,
    line: { color: series.colour, width: 0 },
    hoverinfo: "skip",
    name: "",
  };
}
