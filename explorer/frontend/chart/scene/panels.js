// The chart's layout: two panels on one x, and a third where a parameter learns.

import { lengthOf, ticks, titleOf } from "./axes.js";
import { levelTicks } from "./levels.js";
import { formatNumber } from "../../formula/numbers.js";
import { AXIS, DIGIT, endMargin, fontSize, groundOf, note } from "../plotly/plotly.js";
import { tenths } from "../plotly/svg-paths.js";

/** @import { Theme } from "../plotly/theme.js" */
/** @import { Range } from "./axes.js" */
/** @typedef {{top: number, height: number, range: Range}} Panel */
/**
 * The positions of all panels, in px: ``inner`` is the width of both panels, ``left`` their left end. ``size`` is
 * that of letters in px, ``bottom`` where the lowest panel ends. ``part`` is there while a parameter learns.
 * @typedef {{width: number, height: number, left: number, inner: number, size: number, x: Range,
 *   forward: Panel, gradient: Panel, part: Panel|null, bottom: number}} Frame
 * @typedef {"forward"|"gradient"|"part"} PanelName
 * @typedef {{x: Range, forward: Range, gradient: Range, part: Range|null}} Ranges
 */

const GAP = 26; // px between the panels, for the grips
// Between the gradients and the parts, for the line that says what they are: px at least, heights of letters.
const CLOSE = [24, 1.5];
const LOW = 0.8; // height of the panels above a third one, of its own
const FINGER = 90; // px that a tick of x needs
const LINES = 2; // heights of letters that a tick of y needs
const [X_LETTERS, Y_LETTERS] = [8, 5]; // of a label at most
const MARK = 3; // px from one mark at a format's value to the next
const TICK = 6; // px, its length
export const MARKED = "rgb(127, 133, 143)";

/**
 * The panels of a chart of a size: forward above, gradients below, parts at the bottom, on one x.
 * @param {{width: number, height: number}} space
 * @param {Ranges} ranges
 * @param {number} smallest px of letters
 * @param {Frame|null} [before] whose width of the panels stays, while a hand moves them
 * @returns {Frame}
 */
export function frameOf({ width, height }, ranges, smallest, before = null) {
  const { x } = ranges;
  const size = fontSize(width, smallest);
  const margins = [4.8 * size, endMargin(size), Math.max(1.7 * size, 28), 3.2 * size];
  const [left, least, top, bottom] = margins.map(Math.round); // as Plotly does
  const letters = before ? 0 : lengthOf(ticks(x, (width - left - least) / FINGER, X_LETTERS));
  const right = before ? width - left - before.inner : Math.max(least, Math.round(endMargin(size, letters)));
  const inner = Math.max(width - left - right, 10);
  return {
    width,
    height,
    left,
    size,
    inner,
    x,
    ...panelsOf(ranges, top, height - top - bottom, size),
  };
}

/** @param {Ranges} ranges @param {number} top @param {number} tall px for all of them @param {number} size of letters */
function panelsOf(ranges, top, tall, size) {
  const close = Math.max(CLOSE[0], CLOSE[1] * size);
  const gaps = ranges.part ? GAP + close : GAP;
  const each = Math.max((tall - gaps) / (ranges.part ? 2 + 1 / LOW : 2), 10);
  const forward = { top, height: each, range: ranges.forward };
  const gradient = { top: top + each + GAP, height: each, range: ranges.gradient };
  const under = { top: gradient.top + each + close, height: each / LOW };
  const part = ranges.part && { ...under, range: ranges.part };
  const lowest = part ?? gradient;
  return { forward, gradient, part, bottom: lowest.top + lowest.height };
}

/** The panel of a curve. @param {Frame} frame @param {PanelName} name @returns {Panel} */
export function panelOf(frame, name) {
  return frame[name] ?? frame.gradient;
}

/** The px of an x. @param {Frame} frame @param {number} x */
export function across({ left, inner, x: [start, stop] }, x) {
  return left + ((x - start) / (stop - start)) * inner;
}

/** A px as a share of the panels' width. @param {Frame} frame @param {number} px */
export function shareOf({ left, inner }, px) {
  return (px - left) / inner;
}

/** The px of a y in a panel. @param {Panel} panel @param {number} y */
export function down({ top, height, range: [low, high] }, y) {
  return top + ((high - y) / (high - low)) * height;
}

/**
 * @param {Frame} frame
 * @param {number[]} levels the values of an op that rounds to a format
 * @param {Theme} theme
 * @param {string} about what is to be known of the lines, "" for nothing
 * @param {string} [title] what the parts are, where there are any
 */
export function layoutOf(frame, levels, theme, about, title = "") {
  const { width, height, left, inner, size, x, forward, gradient, part, bottom } = frame;
  const domain = (/** @type {Panel} */ { top, height: tall }) => [
    (bottom - top - tall) / (bottom - forward.top),
    (bottom - top) / (bottom - forward.top),
  ];
  const upright = (/** @type {string} */ name, /** @type {Panel} */ panel) => ({
    ...axis(name, ticks(panel.range, panel.height / (LINES * size), Y_LETTERS)),
    range: panel.range,
    domain: domain(panel),
  });
  return {
    ...groundOf(theme, { width, height, size }),
    autosize: false,
    margin: { l: left, r: width - left - inner, t: forward.top, b: height - bottom, pad: 0 },
    xaxis: {
      ...uncut(axis("x", ticks(x, inner / FINGER, X_LETTERS)), frame),
      range: x,
      anchor: part ? "y3" : "y2",
    },
    yaxis: { ...upright(part ? "y" : "forward y", forward), ...levelsOn(frame, levels) },
    yaxis2: { ...upright("gradient", gradient), anchor: "x" },
    ...(part ? { yaxis3: { ...upright("part", part), anchor: "x" } } : {}),
    annotations: [...(about ? [above(about, 1)] : []), ...(part ? [above(title, domain(part)[1])] : [])],
  };
}

/** The ticks of the forward panel at a format's values. @param {Frame} frame @param {number[]} levels */
function levelTicksOn({ forward, size }, levels) {
  const [low, high] = forward.range;
  const unit = (high - low) / forward.height; // a px
  const inside = levels.filter((value) => value >= low && value <= high);
  return levelTicks(inside, LINES * size * unit, MARK * unit);
}

/** The marks at a format's values as a path, while Plotly does not draw. @param {Frame} frame @param {number[]} levels */
export function marksText(frame, levels) {
  const { marks } = levelTicksOn(frame, levels);
  return marks.map((value) => `M${frame.left} ${tenths(down(frame.forward, value))}h${TICK}`).join("");
}

/** The ticks of the forward panel at a format's values, where the op has one. @param {Frame} frame @param {number[]} levels */
function levelsOn(frame, levels) {
  const { values, texts, marks } = levelTicksOn(frame, levels);
  const { part } = frame;
  const minor = {
    tickmode: "array",
    tickvals: marks,
    ticks: "inside",
    ticklen: TICK,
    tickcolor: MARKED,
  };
  const labels = { tickvals: values, ticktext: texts, title: titled(part ? "y" : "forward y") };
  return marks.length ? { minor, ...(values.length ? labels : {}) } : {};
}

/** A line above a panel. @param {string} text @param {number} y its top, as a share of all panels */
function above(text, y) {
  return note(text, { x: 0, xanchor: "left", y, yanchor: "bottom" });
}

/** The heading of the panel of parts. @param {string} learns the parameter @param {number} g */
export function partTitle(learns, g) {
  return `part of one element in the gradient for ${learns}, at g = ${formatNumber(g).replace("-", "−")}`;
}

/** @param {string} text */
const titled = (text) => ({ text, standoff: 6 });

/** @param {string} name @param {ReturnType<typeof ticks>} marks */
function axis(name, marks) {
  return {
    ...AXIS,
    title: titled(titleOf(name, marks)),
    autorange: false,
    tickmode: "array",
    tickvals: marks.values,
    ticktext: marks.texts,
    zerolinecolor: "rgba(127, 133, 143, 0.6)",
    ticklabeloverflow: "allow", // else Plotly measures each label, and holds up the curve by a fifth
  };
}

/**
 * An axis without the labels that would reach beyond the right end of the chart while a hand moves it.
 * @param {*} axis
 * @param {Frame} frame
 */
function uncut(axis, { width, left, inner, size, x: [start, stop] }) {
  const beyond = (/** @type {number} */ at) => width - left - ((at - start) / (stop - start)) * inner;
  const fitted = (/** @type {string} */ text, /** @type {number} */ index) =>
    (DIGIT * size * text.length) / 2 <= beyond(axis.tickvals[index]) ? text : "";
  return { ...axis, ticktext: axis.ticktext.map(fitted) };
}
