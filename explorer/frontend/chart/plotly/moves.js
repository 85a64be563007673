// Lines and bars of a drawn chart moved to other values, between two drawings of Plotly.

import { setPath, tenths } from "./svg-paths.js";

/**
 * A line, an area or a stack of bars, as Plotly takes it.
 * @typedef {{type: string, mode?: string, fill?: string, x: ArrayLike<number>, y: ArrayLike<number>,
 *   width?: number}} Trace
 */
/** Px of a value along an axis of Plotly's. @typedef {{d2p: (value: number) => number}} Axis */

/** Whether traces are such as can be moved. @param {Trace[]} traces */
export function areMovable(traces) {
  return traces.every(({ type, mode }) => type === "bar" || mode === "lines");
}

/**
 * Move drawn lines and bars to the values of ``traces``, which look the same and stand in the same order; bars
 * stand upon one another.
 * @param {*} chart drawn by Plotly
 * @param {Trace[]} traces
 */
export function moveTraces(chart, traces) {
  const lines = [...chart.querySelectorAll(".scatterlayer > .trace")];
  const bars = [...chart.querySelectorAll(".barlayer > .trace")];
  const below = /** @type {number[]} */ ([]);
  traces.forEach((trace, index) => {
    Object.assign(chart.data[index], { x: trace.x, y: trace.y });
    const { xaxis, yaxis } = axesOf(chart, index);
    if (trace.type === "bar") moveBars(bars.shift(), trace, xaxis, yaxis, below);
    else moveLine(lines.shift(), trace, xaxis, yaxis);
  });
}

/** @param {*} chart @param {number} index @returns {{xaxis: Axis, yaxis: Axis}} */
function axesOf({ _fullLayout: layout, _fullData: data }, index) {
  const named = (/** @type {string} */ axis) => layout[axis.replace(/^([xy])/, "$1axis")];
  return { xaxis: named(data[index].xaxis), yaxis: named(data[index].yaxis) };
}

/** @param {Element|undefined} drawn @param {Trace} trace @param {Axis} xaxis @param {Axis} yaxis */
function moveLine(drawn, { x, y }, xaxis, yaxis) {
  const finite = (/** @type {number} */ px) => (Number.isFinite(px) ? px : NaN); // log of 0
  setPath(drawn, {
    x: Float64Array.from(x, (value) => xaxis.d2p(value)),
    y: Float64Array.from(y, (value) => finite(yaxis.d2p(value))),
  });
}

/**
 * @param {Element|undefined} drawn
 * @param {Trace} trace
 * @param {Axis} xaxis
 * @param {Axis} yaxis
 * @param {number[]} below heights so far, which grow
 */
function moveBars(drawn, { x, y, width = 1 }, xaxis, yaxis, below) {
  const paths = drawn?.querySelectorAll(".point > path") ?? [];
  for (let i = 0; i < paths.length; i += 1) {
    const [left, right] = [x[i] - width / 2, x[i] + width / 2].map((value) => tenths(xaxis.d2p(value)));
    const [bottom, top] = [below[i] ?? 0, (below[i] ?? 0) + y[i]].map((value) => tenths(yaxis.d2p(value)));
    paths[i].setAttribute("d", y[i] ? `M${left},${bottom}V${top}H${right}V${bottom}Z` : "M0,0Z");
    below[i] = (below[i] ?? 0) + y[i];
  }
}
