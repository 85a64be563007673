// The picture of a parameter over its range: the error at the left or above, its gradients beside it.

import { note } from "../../chart/plotly/plotly.js";
import { formatDigits } from "../../formula/phrases.js";

/**
 * A parameter over its range, as the question "rest" answers: the mean squared ``error``, and by rule the mean gradient,
 * the places of rest (the ends of a stretch, or twice the same) and a sentence; ``least`` is that on the least error.
 * @typedef {{at: ArrayLike<number>, error: ArrayLike<number>, gradients: Record<string, ArrayLike<number>>,
 *   places: Record<string, [number, number][]>, words: Record<string, string>, least: string}} Rest
 */
/**
 * ``value`` is that of the parameter now.
 * @typedef {{rest: Rest, rules: {key: string, label: string, colour: string}[],
 *   name: string, op: string, value: number, log: boolean, neutral: string, words: string}} Picture
 */

const NARROW = 600; // px, below which the panels stand one above the other
// The shares of the picture that the panels take: the error's first, then the gradients'.
const STACKED = { x: [0, 1], y: [0.58, 1], x2: [0, 1], y2: [0, 0.42] };
const ASIDE = { x: [0, 0.44], y: [0, 1], x2: [0.56, 1], y2: [0, 1] };
const LINE = { type: "scatter", mode: "lines", hoverinfo: "skip" };
const NOW = { color: "rgba(127, 133, 143, 0.95)", width: 2 };
const PLACE = { width: 1.5, dash: "dot" };
const NEAR = 0.25; // of the width: nearer to the left end a word stands at the right of its line
const LARGEST = 0.9; // of the sizes of a gradient that the axis holds, where it grows without bound

/** @param {Picture} picture @param {number} width px of the whole */
export function restDrawing({ rest, rules, name, value, log, neutral }, width) {
  const visible = rules.filter(({ key }) => rest.gradients[key]);
  const error = { ...LINE, x: rest.at, y: rest.error, line: { color: neutral, width: 2.5 } };
  const gradients = visible.map(({ key, colour }, index) => ({
    ...LINE,
    x: rest.at,
    y: rest.gradients[key],
    xaxis: "x2",
    yaxis: "y2",
    line: { color: colour, width: 2.5 + 1.5 * (visible.length - 1 - index) },
  }));
  const rests = visible.flatMap(({ key, colour }, index) =>
    rest.places[key].map((ends) => ({
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
    ...["", "2"].map((axis) => upright(axis, value, NOW)),
    ...visible.flatMap(({ key, colour }) =>
      rest.places[key].flatMap(([low, high]) =>
        low === high ? [upright("", low, { ...PLACE, color: colour })] : [],
      ),
    ),
  ];
  return {
    traces: [error, ...gradients, ...rests],
    layout: layoutOf({ rest, name, log, stacked, keys: visible.map(({ key }) => key), lines, value }),
  };
}

/** @param {*} picture */
function layoutOf({ rest, name, log, stacked, keys, lines, value }) {
  const [low, high] = [rest.at[0], rest.at[rest.at.length - 1]];
  const x = {
    type: log ? "log" : "linear",
    range: log ? [Math.log10(low), Math.log10(high)] : [low, high],
    title: { text: name, standoff: 4 },
    ...(log ? { dtick: "D2" } : {}),
  };
  const shareOf = (/** @type {number} */ at) =>
    log ? Math.log(at / low) / Math.log(high / low) : (at - low) / (high - low);
  const domain = stacked ? STACKED : ASIDE;
  return {
    xaxis: { ...x, domain: domain.x, anchor: "y" },
    xaxis2: { ...x, domain: domain.x2, anchor: "y2" },
    yaxis: {
      title: { text: "mean squared error", standoff: 6 },
      domain: domain.y,
      range: [0, 1.08 * largest([rest.error]) || 1],
      anchor: "x",
    },
    yaxis2: {
      title: { text: `gradient for ${name}, mean`, standoff: 6 },
      domain: domain.y2,
      range: around(keys.map((/** @type {string} */ key) => rest.gradients[key])),
      anchor: "x2",
      zeroline: true,
      zerolinecolor: "rgba(127, 133, 143, 0.9)",
    },
    shapes: lines,
    annotations: ["", "2"].map((axis) => ({
      ...note(`${name} = ${formatDigits(value)}`, { x: log ? Math.log10(value) : value, y: 1 }),
      xref: `x${axis}`,
      yref: `y${axis} domain`,
      xanchor: shareOf(value) < NEAR ? "left" : "right",
      yanchor: "top",
    })),
  };
}

/** @param {string} axis "" for the first @param {number} x @param {Object<string, *>} line */
function upright(axis, x, line) {
  return { type: "line", xref: `x${axis}`, yref: `y${axis} domain`, x0: x, x1: x, y0: 0, y1: 1, line };
}

/** A range with 0 in it that holds the larger part of curves. @param {ArrayLike<number>[]} curves */
function around(curves) {
  const most = largest(curves) || 1;
  const values = curves.flatMap((curve) => Array.from(curve)).filter(Number.isFinite);
  const low = Math.max(Math.min(0, ...values), -most);
  const high = Math.min(Math.max(0, ...values), most);
  const pad = 0.08 * (high - low) || 1;
  return [low - pad, high + pad];
}

/** The largest size that is shown: a curve may grow without bound at one end. @param {ArrayLike<number>[]} curves */
function largest(curves) {
  const sizes = curves
    .flatMap((curve) => Array.from(curve))
    .filter(Number.isFinite)
    .map(Math.abs);
  sizes.sort((one, other) => one - other);
  const usual = sizes[Math.floor(LARGEST * (sizes.length - 1))] ?? 0;
  return Math.min(sizes[sizes.length - 1] ?? 0, 3 * usual || Infinity);
}
