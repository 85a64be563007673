// The chart of a study's scores: one row per backward rule, with a point and its confidence interval.

import { escapeHtml } from "../chart/plotly/plotly.js";
import { CHANCE_COLOUR } from "../train/charts/chance-line.js";
import { NARROW } from "../train/charts/end-labels.js";
import { cut } from "../train/charts/label-layout.js";
import { makeCenteredNote, createFigure } from "../chart/plotly/figure.js";

/** @import { Picture, Series } from "./accuracy.js" */

const [FEW_LETTERS, MANY_LETTERS] = [13, 26]; // maximum length of a rule's name on a narrow and a wide chart
const LETTER = 0.5; // width of a letter, as a fraction of the font size
const MIN_SPAN = 0.1; // minimum width of the axis, in units of the score

/**
 * Create the chart of each backward rule's score in a study.
 * @param {HTMLElement} host of a fixed height
 * @param {{plotly: string}} options the address of plotly.js
 */
export function createAccuracyChart(host, { plotly }) {
  return createFigure(host, {
    plotly,
    hover: true,
    compose: (/** @type {Picture} */ picture, /** @type {number} */ width) =>
      composeFigure(picture, width, host),
  });
}

/**
 * Convert the data of the chart of scores to Plotly's traces and layout.
 * @param {Picture} picture
 * @param {number} width px of the host
 * @param {HTMLElement} host
 */
function composeFigure(picture, width, host) {
  const { series, chance, firstControl, title, share } = picture;
  const hasPoints = series.some(({ point }) => point);
  const letters = width < NARROW ? FEW_LETTERS : MANY_LETTERS;
  const size = parseFloat(getComputedStyle(host).fontSize) || 13;
  const texts = cut(
    series.map(({ name }) => name),
    letters,
  );
  const longest = Math.max(...texts.map(({ length }) => length), 1);
  const line = series.length - 0.5;
  return {
    traces: series.map(makeScoreTrace),
    layout: {
      hovermode: "closest",
      margin: { l: Math.ceil(longest * LETTER * size) + 12, r: 16, t: 8, b: Math.ceil(3.1 * size), pad: 0 },
      xaxis: { title: { text: title, standoff: 4 }, ...makeScoreAxis(series, share), visible: hasPoints },
      yaxis: {
        tickmode: "array",
        tickvals: series.map((_, at) => at),
        ticktext: texts.map(escapeHtml),
        range: [line, -0.5],
        zeroline: false,
        showgrid: hasPoints, // without points, a grid line would cross the message
      },
      shapes: [
        ...(hasPoints && chance
          ? [makeDottedLine({ x0: chance, x1: chance, y0: 0, y1: 1, yref: "paper" })]
          : []),
        ...(hasPoints && firstControl > 0
          ? [makeDottedLine({ y0: firstControl - 0.5, y1: firstControl - 0.5, x0: 0, x1: 1, xref: "paper" })]
          : []),
      ],
      annotations: [
        ...(hasPoints ? [] : [makeCenteredNote(picture.empty)]),
        ...(hasPoints && chance
          ? [makeAnnotation("chance", { x: chance, y: 1, yref: "paper", yanchor: "top", xanchor: "left" })]
          : []),
      ],
    },
  };
}

/** Return a backward rule's Plotly trace, which has at most one point. @param {Series} series @param {number} line */
function makeScoreTrace({ key, name, colour, control, point }, line) {
  const filled = control ? "diamond" : "circle";
  return {
    x: point ? [point.score] : [],
    y: point ? [line] : [],
    error_x: {
      type: "data",
      array: [point?.half ?? 0],
      color: colour,
      thickness: 2,
      width: 5,
      visible: (point?.half ?? null) !== null,
    },
    type: "scatter",
    mode: "markers",
    name: escapeHtml(name),
    meta: key,
    marker: {
      color: colour,
      size: 10,
      symbol: point?.sure ? filled : `${filled}-open`,
      line: { color: colour, width: 2 },
    },
    customdata: point ? [escapeHtml(point.words)] : [],
    hovertemplate: "%{customdata}<extra></extra>",
    cliponaxis: false,
  };
}

/**
 * Create the axis of scores. The range includes all intervals. It has a minimum width, so that small differences look
 * small.
 * @param {Series[]} series
 * @param {boolean} share whether scores are fractions, shown in percent
 */
function makeScoreAxis(series, share) {
  const ends = series.flatMap(({ point }) =>
    point ? [point.score - (point.half ?? 0), point.score + (point.half ?? 0)] : [],
  );
  const max = share ? 1 : Infinity;
  const high = Math.min(Math.max(...ends, -Infinity) + 0.02, max);
  const low = Math.max(Math.min(...ends, high - MIN_SPAN) - 0.03, share ? 0 : -Infinity);
  const range = ends.length ? [low, high] : [0, 1];
  return share ? { range, tickformat: ",.0%", ...makePercentTicks(range) } : { range };
}

/** Return axis ticks at whole percentages. @param {number[]} range */
function makePercentTicks([low, high]) {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25].find((each) => (high - low) / each <= 6) ?? 0.25;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  const tickvals = Array.from({ length: Math.max(count, 0) }, (_, at) => (first + at) * step);
  return { tickmode: "array", tickvals, ticktext: tickvals.map((value) => String(Math.round(100 * value))) };
}

/** @param {*} position */
function makeDottedLine(position) {
  return { type: "line", line: { color: CHANCE_COLOUR, width: 1, dash: "dot" }, ...position };
}

/** @param {string} text @param {*} position */
function makeAnnotation(text, position) {
  return { text: escapeHtml(text), showarrow: false, borderpad: 2, ...position };
}
