// The layout of a chart: one panel for the op, one for the gradients and, if a parameter learns, one for its gradient,
// with a common x axis.

import { getMaxLength, makeTicks, formatTitle } from "./axes.js";
import { chooseLevelTicks } from "./levels.js";
import { formatNumber, writeMinus } from "../../formula/numbers.js";
import * as layouts from "../plotly/plotly.js";
import { roundToTenths } from "../plotly/svg-paths.js";

/** @import { Theme } from "../plotly/theme.js" */
/** @import { Range } from "./axes.js" */
/** A panel of the chart, with the range of its y axis. @typedef {{top: number, height: number, range: Range}} Panel */
/**
 * The positions of the panels in px. ``left``, ``inner``: the left edge and width of all panels; ``bottom``: the lower
 * edge of the last one; ``size``: the font size; ``part``: the panel of a parameter's gradient, or null.
 * @typedef {{width: number, height: number, left: number, inner: number, size: number, x: Range, forward: Panel,
 *   gradient: Panel, part: Panel|null, bottom: number}} Frame
 * @typedef {"forward"|"gradient"|"part"} PanelName the panel of the op, the gradients, or a parameter's gradient
 * @typedef {{x: Range, forward: Range, gradient: Range, part: Range|null}} Ranges the ranges of the common x axis and
 *   of each panel's y axis
 */

const GAP = 26; // px between panels, where the handles of parameters are
// Space for the heading of the third panel: minimum px, and multiple of the font size.
const PART_GAP = [24, 1.5];
const [LOW_PX, LOW_SHARE] = [200, 0.75]; // height of two panels below which the upper one has a share of the other's
const UPPER_SHARE = 0.8; // height of an upper panel as a fraction of the third's
const X_TICK_PX = 90; // minimum distance between x ticks
const Y_TICK_LINES = 2; // minimum distance between y ticks, as a multiple of the font size
const [X_LETTERS, Y_LETTERS] = [8, 5]; // maximum letters of a tick label
const countYTicks = (/** @type {number} */ lines) => Math.max(lines / Y_TICK_LINES, Math.min(4, lines / 1.3));
const TITLE_LINES = 4.6; // length of the op's axis title, as a multiple of the font size
const MARK_GAP_PX = 3; // minimum distance between tick marks of a number format
const MARK_PX = 6; // length of a tick mark
export const MARK_COLOUR = layouts.makeGrey(1);

/**
 * Compute the positions of the panels: that of the op on top, that of the gradients below, and that of a learning
 * parameter at the bottom.
 * @param {{width: number, height: number}} space size of the chart in px @param {Ranges} ranges
 * @param {number} smallest minimum font size in px
 * @param {Frame|null} [before] the frame whose panel width is kept during a drag, or null @returns {Frame}
 */
export function computeFrame({ width, height }, ranges, smallest, before = null) {
  const { x } = ranges;
  const size = layouts.chooseFontSize(width, smallest);
  const margins = [5 * size, layouts.getEndMargin(size), Math.max(1.7 * size, 28), 3.4 * size];
  const [left, minRight, top, bottom] = margins.map(Math.round); // as Plotly rounds its margins
  const letters = before ? 0 : getMaxLength(makeTicks(x, (width - left - minRight) / X_TICK_PX, X_LETTERS));
  const right = before
    ? width - left - before.inner
    : Math.max(minRight, Math.round(layouts.getEndMargin(size, letters)));
  const inner = Math.max(width - left - right, 10);
  return { width, height, left, size, inner, x, ...computePanels(ranges, top, height - top - bottom, size) };
}

/**
 * @param {Ranges} ranges @param {number} top top edge of the panels in px
 * @param {number} tall height of all panels in px @param {number} size size of letters in px
 */
function computePanels(ranges, top, tall, size) {
  const close = Math.max(PART_GAP[0], PART_GAP[1] * size);
  const gaps = ranges.part ? GAP + close : GAP;
  const share = !ranges.part && tall < LOW_PX ? LOW_SHARE : 1;
  const height = Math.max((tall - gaps) / (ranges.part ? 2 + 1 / UPPER_SHARE : 1 + share), 10);
  const forward = { top, height: share * height, range: ranges.forward };
  const gradient = { top: top + forward.height + GAP, height, range: ranges.gradient };
  const under = { top: gradient.top + height + close, height: height / UPPER_SHARE };
  const part = ranges.part && { ...under, range: ranges.part };
  const lowest = part ?? gradient;
  return { forward, gradient, part, bottom: lowest.top + lowest.height };
}

/**
 * Return a panel by its name, or the gradient panel if it does not exist.
 * @param {Frame} frame @param {PanelName} name @returns {Panel}
 */
export function findPanel(frame, name) {
  return frame[name] ?? frame.gradient;
}

/** Convert x to px from the left edge of the chart. @param {Frame} frame @param {number} x */
export function toLeftPx({ left, inner, x: [start, stop] }, x) {
  return left + ((x - start) / (stop - start)) * inner;
}

/** Convert px from the left edge to a fraction of the panels' width. @param {Frame} frame @param {number} px */
export function toPanelFraction({ left, inner }, px) {
  return (px - left) / inner;
}

/** Convert y to px from the top edge of the chart. @param {Panel} panel @param {number} y */
export function toTopPx({ top, height, range: [low, high] }, y) {
  return top + ((high - y) / (high - low)) * height;
}

/**
 * Return Plotly's layout of the panels.
 * @param {Frame} frame @param {number[]} levels the values of the number format to which the op rounds, or []
 * @param {Theme} theme @param {string} about a line that explains the curves, or ""
 * @param {string} [title] heading of the third panel
 */
export function makeLayout(frame, levels, theme, about, title = "") {
  const { width, height, left, inner, size, x, forward, gradient, part, bottom } = frame;
  const getDomain = (/** @type {Panel} */ { top, height: tall }) => [
    (bottom - top - tall) / (bottom - forward.top),
    (bottom - top) / (bottom - forward.top),
  ];
  const makeYAxis = (/** @type {string} */ name, /** @type {Panel} */ panel) => ({
    ...makeAxis(name, makeTicks(panel.range, countYTicks(panel.height / size), Y_LETTERS)),
    ticklabelstandoff: 3, // px: a curve may begin at the axis
    range: panel.range,
    domain: getDomain(panel),
  });
  return {
    ...layouts.makeBaseLayout(theme, { width, height, size }),
    autosize: false,
    margin: { l: left, r: width - left - inner, t: forward.top, b: height - bottom, pad: 0 },
    xaxis: {
      ...hideCutLabels(makeAxis("x", makeTicks(x, inner / X_TICK_PX, X_LETTERS)), frame),
      range: x,
      ticklabelstandoff: Math.round(0.3 * size), // the leftmost number is below the lowest one of y
      anchor: part ? "y3" : "y2",
    },
    yaxis: { ...makeYAxis(nameForward(frame), forward), ...makeLevelAxis(frame, levels) },
    yaxis2: { ...makeYAxis("gradient", gradient), anchor: "x" },
    ...(part ? { yaxis3: { ...makeYAxis("part", part), anchor: "x" } } : {}),
    annotations: [
      ...(about ? [makePanelHeading(about, 1)] : []),
      ...(part ? [makePanelHeading(title, getDomain(part)[1])] : []),
    ],
  };
}

/** Return the title of the op's y axis, a short one if the title of the panel below is close. @param {Frame} frame */
const nameForward = ({ part, forward, size }) =>
  part || forward.height < TITLE_LINES * size ? "y" : "forward y";

/** @param {Frame} frame @param {number[]} levels */
function makeLevelTicks({ forward, size }, levels) {
  const [low, high] = forward.range;
  const unit = (high - low) / forward.height; // units of y per px
  const inside = levels.filter((value) => value >= low && value <= high);
  return chooseLevelTicks(inside, Y_TICK_LINES * size * unit, MARK_GAP_PX * unit);
}

/**
 * Format the tick marks at the values of a number format as an SVG path, for use during drags.
 * @param {Frame} frame @param {number[]} levels the values
 */
export function formatMarks(frame, levels) {
  const { marks } = makeLevelTicks(frame, levels);
  return marks
    .map((value) => `M${frame.left} ${roundToTenths(toTopPx(frame.forward, value))}h${MARK_PX}`)
    .join("");
}

/**
 * Return Plotly's settings for a y axis with ticks at the values of a number format. Returns {} without values.
 * @param {Frame} frame @param {number[]} levels the values
 */
function makeLevelAxis(frame, levels) {
  const { values, texts, marks } = makeLevelTicks(frame, levels);
  const minor = {
    tickmode: "array",
    tickvals: marks,
    ticks: "inside",
    ticklen: MARK_PX,
    tickcolor: MARK_COLOUR,
  };
  const labels = { tickvals: values, ticktext: texts, title: makeTitle(nameForward(frame)) };
  return marks.length ? { minor, ...(values.length ? labels : {}) } : {};
}

/** @param {string} text @param {number} y top edge of the panel, as a fraction of the height of all panels */
function makePanelHeading(text, y) {
  return layouts.makeNote(text, { x: 0, xanchor: "left", y, yanchor: "bottom" });
}

/**
 * Return the heading of the panel of a parameter's gradient.
 * @param {string} learns the parameter @param {number} g the upstream gradient
 */
export function formatPartTitle(learns, g) {
  return `part of one element in the gradient for ${learns}, at g = ${writeMinus(formatNumber(g))}`;
}

/** @param {string} text */
const makeTitle = (text) => ({ text, standoff: 6 });

/** @param {string} name @param {ReturnType<typeof makeTicks>} marks */
function makeAxis(name, marks) {
  return {
    ...layouts.AXIS,
    title: makeTitle(formatTitle(name, marks)),
    autorange: false,
    tickmode: "array",
    tickvals: marks.values,
    ticktext: marks.texts,
    zerolinecolor: layouts.makeGrey(0.6),
    ticklabeloverflow: "allow", // otherwise Plotly measures every label, which takes 20 % longer
  };
}

/**
 * Return an axis without tick labels that would be cut off at the right edge of the chart.
 * @param {*} axis @param {Frame} frame
 */
function hideCutLabels(axis, { width, left, inner, size, x: [start, stop] }) {
  const getRoom = (/** @type {number} */ at) => width - left - ((at - start) / (stop - start)) * inner;
  const fitLabel = (/** @type {string} */ text, /** @type {number} */ index) =>
    (layouts.DIGIT * size * text.length) / 2 <= getRoom(axis.tickvals[index]) ? text : "";
  return { ...axis, ticktext: axis.ticktext.map(fitLabel) };
}
