// Lines and bars in a Plotly drawing, moved to new values without a redraw by Plotly.

import { setPath, roundToTenths } from "./svg-paths.js";

/**
 * A line, an area or a stack of bars, in the format of Plotly.
 * @typedef {{type: string, mode?: string, fill?: string, x: ArrayLike<number>, y: ArrayLike<number>, width?: number}}
 *   Trace
 */
/** An axis of Plotly. ``d2p`` converts a value to px. @typedef {{d2p: (value: number) => number}} Axis */

/** Return whether all traces are lines or bars, which can be moved without a redraw. @param {Trace[]} traces */
export function areMovable(traces) {
  return traces.every(({ type, mode }) => type === "bar" || mode === "lines");
}

/**
 * Move the lines and stacked bars of a Plotly chart to new values.
 * @param {*} chart the element with Plotly's drawing
 * @param {Trace[]} traces traces in the same order and look as in the drawing
 */
export function moveTraces(chart, traces) {
  const lines = listLines(chart);
  const bars = [...chart.querySelectorAll(".barlayer > .trace")];
  const below = /** @type {number[]} */ ([]);
  const getAxis = (/** @type {string} */ name) => chart._fullLayout[name.replace(/^([xy])/, "$1axis")];
  traces.forEach((trace, index) => {
    Object.assign(chart.data[index], { x: trace.x, y: trace.y });
    const { xaxis, yaxis } = chart._fullData[index];
    if (trace.type === "bar") moveBars(bars.shift(), trace, getAxis(xaxis), getAxis(yaxis), below);
    else moveLine(lines.shift(), trace, getAxis(xaxis), getAxis(yaxis));
  });
}

/**
 * Return the SVG groups of the lines of a Plotly chart in the order of their traces, which may differ from the order in
 * which they are drawn.
 * @param {*} chart the element with Plotly's drawing @returns {Element[]}
 */
export function listLines(chart) {
  return chart._fullData
    .map((/** @type {{uid: string}} */ { uid }) => chart.querySelector(`.scatterlayer > .trace${uid}`))
    .filter(Boolean);
}

/** @param {Element|undefined} drawn @param {Trace} trace @param {Axis} xaxis @param {Axis} yaxis */
function moveLine(drawn, { x, y }, xaxis, yaxis) {
  const pixels = { x: new Float64Array(x.length), y: new Float64Array(x.length) };
  for (let at = 0; at < x.length; at += 1) {
    const px = yaxis.d2p(y[at]); // infinite for the log of 0
    pixels.x[at] = xaxis.d2p(x[at]);
    pixels.y[at] = Number.isFinite(px) ? px : NaN;
  }
  setPath(drawn, pixels);
}

/**
 * Move the bars of one trace to new values, stacked on the bars of earlier traces.
 * @param {Element|undefined} drawn @param {Trace} trace @param {Axis} xaxis @param {Axis} yaxis
 * @param {number[]} below heights of the stacks so far, to which those of these bars are added
 */
function moveBars(drawn, { x, y, width = 1 }, xaxis, yaxis, below) {
  const paths = drawn?.querySelectorAll(".point > path") ?? [];
  for (let i = 0; i < paths.length; i += 1) {
    const [left, right] = [x[i] - width / 2, x[i] + width / 2].map((value) =>
      roundToTenths(xaxis.d2p(value)),
    );
    const [bottom, top] = [below[i] ?? 0, (below[i] ?? 0) + y[i]].map((value) =>
      roundToTenths(yaxis.d2p(value)),
    );
    paths[i].setAttribute("d", y[i] ? `M${left},${bottom}V${top}H${right}V${bottom}Z` : "M0,0Z");
    below[i] = (below[i] ?? 0) + y[i];
  }
}
