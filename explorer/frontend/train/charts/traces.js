// Curves of a training as Plotly traces, with bands and tooltips.

import { escapeHtml } from "../../chart/plotly/plotly.js";
import { traceBand } from "../state/series.js";

/** @import { Series } from "../state/series.js" */
/** @import { Scale } from "./axes.js" */

const BAND = "24"; // opacity of a band, as the last two digits of a hexadecimal colour
const TINY = 1e-30; // in place of values that a logarithmic axis cannot show

/** Return whether a curve has a band of standard deviations over seeds. @param {Series} series */
export function hasBand({ y, spread = [] }) {
  return Array.from(spread).some((deviation, at) => Number.isFinite(deviation) && Number.isFinite(y[at]));
}

/** Convert a curve to a Plotly trace. @param {Series} series @param {Scale} scale */
export function makeCurveTrace({ name, meta, colour, x, y, spread, dash, faint, symbol }, scale) {
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
    ...formatTooltip(scale, y, spread),
    ...(meta && { meta }),
    ...((faint || symbol) && { hoverinfo: "skip", hovertemplate: null }),
  };
}

/**
 * Return Plotly's template of a curve's tooltip, with the standard deviation over several seeds.
 * @param {Scale} scale @param {ArrayLike<number>} y @param {ArrayLike<number>} [spread]
 */
function formatTooltip({ kind, decimals }, y, spread) {
  const [times, unit] = kind === "share" ? [100, " %"] : [1, ""];
  const format = kind === "share" ? `.${decimals ?? 1}f` : kind === "fit" ? `.${decimals ?? 2}f` : ".4~g";
  const hasSeeds = spread && Array.from(spread).some(Number.isFinite);
  const deviation = hasSeeds ? ` ± %{customdata[1]:${format}}` : "";
  return {
    customdata: Array.from(y, (value, at) => [times * value, times * (spread?.[at] ?? 0)]),
    hovertemplate: `%{customdata[0]:${format}}${deviation}${unit}`,
  };
}

/**
 * Create the band mean ± standard deviation over seeds as a Plotly trace.
 * @param {Series} series @param {Scale} scale
 */
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
