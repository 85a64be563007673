// The accuracy plot of a study: a point with its interval on each rule's line, or a curve over what is swept.

import { escaped } from "../chart/plotly/plotly.js";
import { shortText } from "../formula/numbers.js";
import { GUESSED } from "../train/charts/chance-line.js";
import { createEnds, NARROW } from "../train/charts/end-labels.js";
import { cut } from "../train/charts/label-layout.js";
import { centred, createFigure } from "../chart/plotly/figure.js";
import { scoreText } from "./heat.js";

/** @import { Picture, Point, Series } from "./accuracy.js" */

const DECADE = 10; // from the least to the largest value, beyond which they stand among decades
const [FEW_LETTERS, MANY_LETTERS] = [13, 26]; // of a rule's name beside its line
const LETTER = 0.5; // of the font's height
const LEAST_SPAN = 0.1; // of scores along the axis
const AIR = 0.06; // beside the first and the last value of what is swept

/**
 * @param {HTMLElement} host of a fixed height
 * @param {{plotly: string}} options the address of plotly.js
 */
export function createAccuracyChart(host, { plotly }) {
  const ends = createEnds(host);
  return createFigure(host, { plotly, hover: true, compose, onDrawn: ends.show });

  /** @param {Picture} picture @param {number} width px of the host */
  function compose(picture, width) {
    return picture.sweep ? sweepOf(picture, width, ends) : linesOf(picture, width, host);
  }
}

/** @param {Picture} picture @param {number} width px of the host @param {HTMLElement} host */
function linesOf(picture, width, host) {
  const { names, series, chance, firstControl, title, share } = picture;
  const known = series.some(({ points }) => points.length);
  const letters = width < NARROW ? FEW_LETTERS : MANY_LETTERS;
  const size = parseFloat(getComputedStyle(host).fontSize) || 13;
  const texts = cut(names, letters);
  const longest = Math.max(...texts.map(({ length }) => length), 1);
  const line = names.length - 0.5;
  return {
    traces: series.map((each) => traceOf(each, share, "lines")),
    layout: {
      hovermode: "closest",
      margin: { l: Math.ceil(longest * LETTER * size) + 12, r: 16, t: 8, b: Math.ceil(3.1 * size), pad: 0 },
      xaxis: { title: { text: title, standoff: 4 }, ...scaleOf(series, share), visible: known },
      yaxis: {
        tickmode: "array",
        tickvals: names.map((_, at) => at),
        ticktext: texts.map(escaped),
        range: [line, -0.5],
        zeroline: false,
        showgrid: known, // else a line goes through the words
      },
      shapes: [
        ...(known && chance ? [ruler({ x0: chance, x1: chance, y0: 0, y1: 1, yref: "paper" })] : []),
        ...(known && firstControl > 0
          ? [ruler({ y0: firstControl - 0.5, y1: firstControl - 0.5, x0: 0, x1: 1, xref: "paper" })]
          : []),
      ],
      annotations: [
        ...(known ? [] : [centred(picture.empty)]),
        ...(known && chance
          ? [named("chance", { x: chance, y: 1, yref: "paper", yanchor: "top", xanchor: "left" })]
          : []),
      ],
    },
  };
}

/** @param {Picture} picture @param {number} width @param {ReturnType<typeof createEnds>} ends */
function sweepOf(picture, width, ends) {
  const { series, chance, sweep, values, title, share, decimals } = picture;
  const known = series.some(({ points }) => points.length);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const isLog = low > 0 && high / low >= DECADE;
  const [left, right] = isLog ? [Math.log10(low), Math.log10(high)] : [low, high];
  const air = AIR * (right - left || 1);
  const whole = series.map((each) => ({ ...each, points: along(each.points, low, high) }));
  const marks = whole.flatMap(({ name, colour, points }) => {
    const last = points[points.length - 1];
    return last
      ? [
          {
            x: /** @type {number} */ (last.at),
            y: last.score,
            colour,
            name,
            value: scoreText(last.score, share ? "accuracy" : null, decimals),
          },
        ]
      : [];
  });
  return {
    traces: whole.map((each) => traceOf(each, share, "sweep")),
    names: ends.space(width, marks, share ? 4 : 5),
    layout: {
      hovermode: "closest",
      xaxis: {
        title: { text: sweep, standoff: 4 },
        type: isLog ? "log" : "linear",
        range: [left - air, right + air],
        tickmode: "array",
        tickvals: values,
        ticktext: values.map(shortText),
        visible: known,
      },
      yaxis: { title: { text: title, standoff: 6 }, ...scaleOf(series, share), visible: known },
      shapes: known && chance ? [ruler({ y0: chance, y1: chance, x0: 0, x1: 1, xref: "paper" })] : [],
      annotations: [
        ...(known ? [] : [centred(picture.empty)]),
        ...(known && chance
          ? [named("chance", { y: chance, x: 1, xref: "paper", xanchor: "right", yanchor: "bottom" })]
          : []),
      ],
    },
  };
}

/**
 * The points of a curve; those of a rule that has nothing to sweep go all along.
 * @param {Point[]} points
 * @param {number} low
 * @param {number} high
 * @returns {Point[]}
 */
function along(points, low, high) {
  return points.flatMap((point) =>
    point.at === null
      ? [
          { ...point, at: low },
          { ...point, at: high, half: null },
        ]
      : [point],
  );
}

/** @param {Series} series @param {boolean} share @param {"lines"|"sweep"} kind */
function traceOf({ key, name, colour, control, points }, share, kind) {
  const scores = points.map(({ score }) => score);
  const at = points.map(({ at }) => at);
  const interval = {
    type: "data",
    array: points.map(({ half }) => half ?? 0),
    color: colour,
    thickness: 2,
    width: 5,
    visible: points.some(({ half }) => half !== null),
  };
  const along =
    kind === "lines" ? { x: scores, y: at, error_x: interval } : { x: at, y: scores, error_y: interval };
  const filled = control ? "diamond" : "circle";
  return {
    ...along,
    type: "scatter",
    mode: kind === "lines" ? "markers" : "lines+markers",
    name: escaped(name),
    meta: key,
    line: { color: colour, width: 2, dash: control ? "dot" : "solid" },
    marker: {
      color: colour,
      size: 10,
      symbol: points.map(({ sure }) => (sure ? filled : `${filled}-open`)),
      line: { color: colour, width: 2 },
    },
    customdata: points.map(({ words }) => escaped(words)),
    hovertemplate: "%{customdata}<extra></extra>",
    cliponaxis: false,
  };
}

/**
 * The axis of scores: all of them, and no difference drawn larger than it is.
 * @param {Series[]} series
 * @param {boolean} share
 */
function scaleOf(series, share) {
  const ends = series.flatMap(({ points }) =>
    points.flatMap(({ score, half }) => [score - (half ?? 0), score + (half ?? 0)]),
  );
  const most = share ? 1 : Infinity;
  const high = Math.min(Math.max(...ends, -Infinity) + 0.02, most);
  const low = Math.max(Math.min(...ends, high - LEAST_SPAN) - 0.03, share ? 0 : -Infinity);
  const range = ends.length ? [low, high] : [0, 1];
  return share ? { range, tickformat: ",.0%", ...percents(range) } : { range };
}

/** Ticks at whole percents. @param {number[]} range */
function percents([low, high]) {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25].find((each) => (high - low) / each <= 6) ?? 0.25;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  const tickvals = Array.from({ length: Math.max(count, 0) }, (_, at) => (first + at) * step);
  return { tickmode: "array", tickvals, ticktext: tickvals.map((value) => String(Math.round(100 * value))) };
}

/** @param {*} position */
function ruler(position) {
  return { type: "line", line: { color: GUESSED, width: 1, dash: "dot" }, ...position };
}

/** @param {string} text @param {*} position */
function named(text, position) {
  return { text: escaped(text), showarrow: false, borderpad: 2, ...position };
}
