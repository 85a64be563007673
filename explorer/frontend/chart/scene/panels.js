// The layout of the chart: two panels with a common x axis, and a third one if a parameter learns.

import { getMaxLength, makeTicks, formatTitle } from "./axes.js";
import { chooseLevelTicks } from "./levels.js";
import { formatNumber } from "../../formula/numbers.js";
import {
  AXIS,
  DIGIT,
  getEndMargin,
  chooseFontSize,
  makeBaseLayout,
  makeGrey,
  makeNote,
} from "../plotly/plotly.js";
import { roundToTenths } from "../plotly/svg-paths.js";

/** @import { Theme } from "../plotly/theme.js" */
/** @import { Range } from "./axes.js" */
/** @typedef {{top: number, height: number, range: Range}} Panel */
/**
 * The positions of a chart's panels in px. ``left`` and ``inner`` are the left end and the width of all panels,
 * ``bottom`` is the lower end of the lowest one, and ``size`` the font size. ``part`` is null unless a parameter
 * learns.
 * @typedef {{width: number, height: number, left: number, inner: number, size: number, x: Range,
 *   forward: Panel, gradient: Panel, part: Panel|null, bottom: number}} Frame
 * @typedef {"forward"|"gradient"|"part"} PanelName
 * @typedef {{x: Range, forward: Range, gradient: Range, part: Range|null}} Ranges
 */

const GAP = 26; // px between the panels, where parameters can be dragged
// The space for a heading above the third panel: a minimum in px, and a multiple of the font size.
const PART_GAP = [24, 1.5];
const UPPER_SHARE = 0.8; // the height of the upper panels relative to the third
const X_TICK_PX = 90; // the minimum distance between ticks of the x axis
const Y_TICK_LINES = 2; // the minimum distance between ticks of a y axis, relative to the font size
const [X_LETTERS, Y_LETTERS] = [8, 5]; // the maximum length of a tick label
const MARK_GAP_PX = 3; // the minimum distance between tick marks at the values of a number format
const MARK_PX = 6; // the length of a tick mark in px
export const MARK_COLOUR = makeGrey(1);

/**
 * Compute the positions of the chart's panels from its size. The op's curve is at the top, the gradients are below, and
 * the third panel is at the bottom. All share one x axis.
 * @param {{width: number, height: number}} space @param {Ranges} ranges @param {number} smallest px of letters
 * @param {Frame|null} [before] the frame whose panel width is kept during a drag @returns {Frame}
 */
export function computeFrame({ width, height }, ranges, smallest, before = null) {
  const { x } = ranges;
  const size = chooseFontSize(width, smallest);
  const margins = [4.8 * size, getEndMargin(size), Math.max(1.7 * size, 28), 3.2 * size];
  const [left, minRight, top, bottom] = margins.map(Math.round); // Plotly rounds margins too
  const letters = before ? 0 : getMaxLength(makeTicks(x, (width - left - minRight) / X_TICK_PX, X_LETTERS));
  const right = before
    ? width - left - before.inner
    : Math.max(minRight, Math.round(getEndMargin(size, letters)));
  const inner = Math.max(width - left - right, 10);
  return {
    width,
    height,
    left,
    size,
    inner,
    x,
    ...computePanels(ranges, top, height - top - bottom, size),
  };
}

/**
 * Compute the vertical positions and y ranges of the chart's panels.
 * @param {Ranges} ranges @param {number} top @param {number} tall total px @param {number} size of letters
 */
function computePanels(ranges, top, tall, size) {
  const close = Math.max(PART_GAP[0], PART_GAP[1] * size);
  const gaps = ranges.part ? GAP + close : GAP;
  const upperHeight = Math.max((tall - gaps) / (ranges.part ? 2 + 1 / UPPER_SHARE : 2), 10);
  const forward = { top, height: upperHeight, range: ranges.forward };
  const gradient = { top: top + upperHeight + GAP, height: upperHeight, range: ranges.gradient };
  const under = { top: gradient.top + upperHeight + close, height: upperHeight / UPPER_SHARE };
  const part = ranges.part && { ...under, range: ranges.part };
  const lowest = part ?? gradient;
  return { forward, gradient, part, bottom: lowest.top + lowest.height };
}

/**
 * Return the chart panel with a name, or the gradient panel if there is none.
 * @param {Frame} frame @param {PanelName} name @returns {Panel}
 */
export function findPanel(frame, name) {
  return frame[name] ?? frame.gradient;
}

/** Convert an x value to px from the left end of the chart. @param {Frame} frame @param {number} x */
export function toLeftPx({ left, inner, x: [start, stop] }, x) {
  return left + ((x - start) / (stop - start)) * inner;
}

/**
 * Convert px from the left end of the chart to a fraction of the panels' width.
 * @param {Frame} frame @param {number} px
 */
export function toPanelFraction({ left, inner }, px) {
  return (px - left) / inner;
}

/** Convert a y value to px from the top of the chart. @param {Panel} panel @param {number} y */
export function toTopPx({ top, height, range: [low, high] }, y) {
  return top + ((high - y) / (high - low)) * height;
}

/**
 * Return Plotly's layout for the chart's panels.
 * @param {Frame} frame @param {number[]} levels the values of an op that rounds to a format @param {Theme} theme
 * @param {string} about the explanation of the lines, or "" @param {string} [title] the heading of the parts
 */
export function makeLayout(frame, levels, theme, about, title = "") {
  const { width, height, left, inner, size, x, forward, gradient, part, bottom } = frame;
  const getDomain = (/** @type {Panel} */ { top, height: tall }) => [
    (bottom - top - tall) / (bottom - forward.top),
    (bottom - top) / (bottom - forward.top),
  ];
  const makeYAxis = (/** @type {string} */ name, /** @type {Panel} */ panel) => ({
    ...makeAxis(name, makeTicks(panel.range, panel.height / (Y_TICK_LINES * size), Y_LETTERS)),
    range: panel.range,
    domain: getDomain(panel),
  });
  return {
    ...makeBaseLayout(theme, { width, height, size }),
    autosize: false,
    margin: { l: left, r: width - left - inner, t: forward.top, b: height - bottom, pad: 0 },
    xaxis: {
      ...hideCutLabels(makeAxis("x", makeTicks(x, inner / X_TICK_PX, X_LETTERS)), frame),
      range: x,
      anchor: part ? "y3" : "y2",
    },
    yaxis: { ...makeYAxis(part ? "y" : "forward y", forward), ...makeLevelAxis(frame, levels) },
    yaxis2: { ...makeYAxis("gradient", gradient), anchor: "x" },
    ...(part ? { yaxis3: { ...makeYAxis("part", part), anchor: "x" } } : {}),
    annotations: [
      ...(about ? [makePanelHeading(about, 1)] : []),
      ...(part ? [makePanelHeading(title, getDomain(part)[1])] : []),
    ],
  };
}

/**
 * Place the y ticks of the op's panel at the values of a number format.
 * @param {Frame} frame @param {number[]} levels
 */
function makeLevelTicks({ forward, size }, levels) {
  const [low, high] = forward.range;
  const unit = (high - low) / forward.height; // y per px
  const inside = levels.filter((value) => value >= low && value <= high);
  return chooseLevelTicks(inside, Y_TICK_LINES * size * unit, MARK_GAP_PX * unit);
}

/**
 * Format the tick marks at the values of a number format as an SVG path, for use during drags.
 * @param {Frame} frame @param {number[]} levels
 */
export function formatMarks(frame, levels) {
  const { marks } = makeLevelTicks(frame, levels);
  return marks
    .map((value) => `M${frame.left} ${roundToTenths(toTopPx(frame.forward, value))}h${MARK_PX}`)
    .join("");
}

/**
 * Return Plotly's settings of a y axis with ticks at the values of a number format. The result is empty for other ops.
 * @param {Frame} frame @param {number[]} levels
 */
function makeLevelAxis(frame, levels) {
  const { values, texts, marks } = makeLevelTicks(frame, levels);
  const { part } = frame;
  const minor = {
    tickmode: "array",
    tickvals: marks,
    ticks: "inside",
    ticklen: MARK_PX,
    tickcolor: MARK_COLOUR,
  };
  const labels = { tickvals: values, ticktext: texts, title: makeTitle(part ? "y" : "forward y") };
  return marks.length ? { minor, ...(values.length ? labels : {}) } : {};
}

/**
 * Return a Plotly annotation with the heading above a panel.
 * @param {string} text @param {number} y the panel's top, as a share of all panels
 */
function makePanelHeading(text, y) {
  return makeNote(text, { x: 0, xanchor: "left", y, yanchor: "bottom" });
}

/**
 * Return the heading of the panel with the contributions to a parameter's gradient.
 * @param {string} learns the parameter @param {number} g
 */
export function formatPartTitle(learns, g) {
  return `part of one element in the gradient for ${learns}, at g = ${formatNumber(g).replace("-", "−")}`;
}

/** Return Plotly's settings for the title of an axis. @param {string} text */
const makeTitle = (text) => ({ text, standoff: 6 });

/**
 * Return Plotly's settings for an axis with its title and ticks.
 * @param {string} name @param {ReturnType<typeof makeTicks>} marks
 */
function makeAxis(name, marks) {
  return {
    ...AXIS,
    title: makeTitle(formatTitle(name, marks)),
    autorange: false,
    tickmode: "array",
    tickvals: marks.values,
    ticktext: marks.texts,
    zerolinecolor: makeGrey(0.6),
    ticklabeloverflow: "allow", // avoids that Plotly measures each label, which makes drawing 20 % slower
  };
}

/**
 * Return an axis without the tick labels that would be cut off at the right end of the chart.
 * @param {*} axis @param {Frame} frame
 */
function hideCutLabels(axis, { width, left, inner, size, x: [start, stop] }) {
  const getRoom = (/** @type {number} */ at) => width - left - ((at - start) / (stop - start)) * inner;
  const fitLabel = (/** @type {string} */ text, /** @type {number} */ index) =>
    (DIGIT * size * text.length) / 2 <= getRoom(axis.tickvals[index]) ? text : "";
  return { ...axis, ticktext: axis.ticktext.map(fitLabel) };
}
