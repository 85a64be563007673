// The chart of a learning parameter's mean squared error and gradients over the parameter's range.

import { makeGrey, makeNote } from "../../chart/plotly/plotly.js";
import { formatDigits } from "../../formula/phrases.js";

/**
 * Curves over the values ``at`` of a parameter, from Python's question "rest". ``error``: the mean squared error;
 * ``gradients``: the mean gradient, by rule key; ``places``: equilibria as intervals, with equal ends for a point;
 * ``words``: a sentence for each rule; ``least``: a sentence about the smallest error.
 * @typedef {{at: ArrayLike<number>, error: ArrayLike<number>, gradients: Record<string, ArrayLike<number>>, places:
 *   Record<string, [number, number][]>, words: Record<string, string>, least: string}} Equilibria
 */
/**
 * The contents of the chart of equilibria. ``name``, ``value``: the parameter and its value; ``log``: whether its axis
 * is logarithmic.
 * @typedef {{equilibria: Equilibria, rules: {key: string, label: string, colour: string}[], name: string, op: string,
 *   value: number, log: boolean, neutral: string, words: string}} Picture
 */

const NARROW = 600; // narrower figures have their panels stacked
// Positions of the error panel (x, y) and the gradient panel (x2, y2) in the figure, for Plotly.
const STACKED = { x: [0, 1], y: [0.58, 1], x2: [0, 1], y2: [0, 0.42] };
const SIDE_BY_SIDE = { x: [0, 0.44], y: [0, 1], x2: [0.56, 1], y2: [0, 1] };
const LINE = { type: "scatter", mode: "lines", hoverinfo: "skip" };
const NOW_LINE = { color: makeGrey(0.95), width: 2 };
const PLACE_LINE = { width: 1.5, dash: "dot" };
const NEAR_SHARE = 0.25; // left of this fraction of the axis, a label is to the right of its line
const SHOWN_SHARE = 0.9; // quantile of |gradient| that fits the axis if the gradient is unbounded

/**
 * Return Plotly's traces and layout for the error and the gradients of a learning parameter.
 * @param {Picture} picture @param {number} width width of the figure in px
 */
export function drawEquilibria({ equilibria, rules, name, value, log, neutral }, width) {
  const visible = rules.filter(({ key }) => equilibria.gradients[key]);
  const error = { ...LINE, x: equilibria.at, y: equilibria.error, line: { color: neutral, width: 2.5 } };
  const gradients = visible.map(({ key, colour }, index) => ({
    ...LINE,
    x: equilibria.at,
    y: equilibria.gradients[key],
    xaxis: "x2",
    yaxis: "y2",
    line: { color: colour, width: 2.5 + 1.5 * (visible.length - 1 - index) },
  }));
  const rests = visible.flatMap(({ key, colour }, index) =>
    equilibria.places[key].map((ends) => ({
      type: "scatter",
      mode: ends[0] === ends[1] ? "markers" : "lines",
      hoverinfo: "skip",
      x: [...ends],
      y: [0, 0],
      xaxis: "x2",
      yaxis: "y2",
      marker: { color: colour, size: 10 + 4 * (visible.length - 1 - index), line: { width: 0 } },
      line: { color: colour, width: 7 },
      cliponaxis: false,
    })),
  );
  const stacked = width < NARROW;
  const lines = [
    ...["", "2"].map((axis) => makeVerticalLine(axis, value, NOW_LINE)),
    ...visible.flatMap(({ key, colour }) =>
      equilibria.places[key].flatMap(([low, high]) =>
        low === high ? [makeVerticalLine("", low, { ...PLACE_LINE, color: colour })] : [],
      ),
    ),
  ];
  return {
    traces: [error, ...gradients, ...rests],
    layout: makeLayout({ equilibria, name, log, stacked, keys: visible.map(({ key }) => key), lines, value }),
  };
}

/** @param {*} picture */
function makeLayout({ equilibria, name, log, stacked, keys, lines, value }) {
  const [low, high] = [equilibria.at[0], equilibria.at[equilibria.at.length - 1]];
  const x = {
    type: log ? "log" : "linear",
    range: log ? [Math.log10(low), Math.log10(high)] : [low, high],
    title: { text: name, standoff: 4 },
    ...(log ? { dtick: "D2" } : {}),
  };
  const shareOf = (/** @type {number} */ at) =>
    log ? Math.log(at / low) / Math.log(high / low) : (at - low) / (high - low);
  const domain = stacked ? STACKED : SIDE_BY_SIDE;
  return {
    xaxis: { ...x, domain: domain.x, anchor: "y" },
    xaxis2: { ...x, domain: domain.x2, anchor: "y2" },
    yaxis: {
      title: { text: "mean squared error", standoff: 6 },
      domain: domain.y,
      range: [0, 1.08 * findShownSize([equilibria.error]) || 1],
      anchor: "x",
    },
    yaxis2: {
      title: { text: `gradient for ${name}, mean`, standoff: 6 },
      domain: domain.y2,
      range: fitGradientRange(keys.map((/** @type {string} */ key) => equilibria.gradients[key])),
      anchor: "x2",
      zeroline: true,
      zerolinecolor: makeGrey(0.9),
    },
    shapes: lines,
    annotations: ["", "2"].map((axis) => ({
      ...makeNote(`${name} = ${formatDigits(value)}`, { x: log ? Math.log10(value) : value, y: 1 }),
      xref: `x${axis}`,
      yref: `y${axis} domain`,
      xanchor: shareOf(value) < NEAR_SHARE ? "left" : "right",
      yanchor: "top",
    })),
  };
}

/**
 * @param {string} axis suffix of the panel's axes, "" for the first @param {number} x
 * @param {Object<string, *>} line its style
 */
function makeVerticalLine(axis, x, line) {
  return { type: "line", xref: `x${axis}`, yref: `y${axis} domain`, x0: x, x1: x, y0: 0, y1: 1, line };
}

/** Return a y range that includes 0 and most of each gradient curve. @param {ArrayLike<number>[]} curves */
function fitGradientRange(curves) {
  const maxSize = findShownSize(curves) || 1;
  const values = curves.flatMap((curve) => Array.from(curve)).filter(Number.isFinite);
  const low = Math.max(Math.min(0, ...values), -maxSize);
  const high = Math.min(Math.max(0, ...values), maxSize);
  const pad = 0.08 * (high - low) || 1;
  return [low - pad, high + pad];
}

/**
 * Return the largest absolute value to show, which cuts off a curve without bounds at one end. It is 0 without values.
 * @param {ArrayLike<number>[]} curves
 */
function findShownSize(curves) {
  const sizes = curves
    .flatMap((curve) => Array.from(curve))
    .filter(Number.isFinite)
    .map(Math.abs);
  sizes.sort((one, other) => one - other);
  const typical = sizes[Math.floor(SHOWN_SHARE * (sizes.length - 1))] ?? 0;
  return Math.min(sizes[sizes.length - 1] ?? 0, 3 * typical || Infinity);
}
