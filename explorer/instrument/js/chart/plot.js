// The chart's layout: two panels on one x.

import { lengthOf, ticks, titleOf } from "./axes.js";
import { AXIS, CONFIG, DIGIT, endMargin, fontSize, groundOf, note } from "./plotly.js";

/** @typedef {import("./axes.js").Range} Range */
/** @typedef {{top: number, height: number, range: Range}} Panel */
/**
 * Where everything is, in px: ``inner`` is the width of both panels, ``left`` their left end. ``size`` is
 * that of letters in px, and ``type`` the smallest that it may be.
 * @typedef {{width: number, height: number, left: number, inner: number, size: number, x: Range,
 *   forward: Panel, gradient: Panel}} Frame
 */
/** @typedef {import("./theme.js").Theme} Theme */

const GAP = 26; // px between the panels, for the grips
const FINGER = 90; // px that a tick of x needs
const LINES = 2; // heights of letters that a tick of y needs
const [X_LETTERS, Y_LETTERS] = [8, 5]; // of a label at most

/**
 * Where the panels lie in a chart of a size: forward above, gradients below, on one x.
 * @param {number} width
 * @param {number} height
 * @param {Range} x
 * @param {Range} y
 * @param {Range} gradient
 * @param {number} smallest px of letters
 * @param {Frame|null} [before] whose width of the panels stays, while a hand moves them
 * @returns {Frame}
 */
export function frameOf(width, height, x, y, gradient, smallest, before = null) {
  const size = fontSize(width, smallest);
  const margins = [4.8 * size, endMargin(size), Math.max(1.7 * size, 28), 3.2 * size];
  const [left, least, top, bottom] = margins.map(Math.round); // as Plotly does
  const letters = before ? 0 : lengthOf(ticks(x, (width - left - least) / FINGER, X_LETTERS));
  const right = before ? width - left - before.inner : Math.max(least, Math.round(endMargin(size, letters)));
  const each = Math.max((height - top - bottom - GAP) / 2, 10);
  return {
    width,
    height,
    left,
    size,
    inner: Math.max(width - left - right, 10),
    x,
    forward: { top, height: each, range: y },
    gradient: { top: top + each + GAP, height: each, range: gradient },
  };
}

/** The px of an x. @param {Frame} frame @param {number} x */
export function across({ left, inner, x: [start, stop] }, x) {
  return left + ((x - start) / (stop - start)) * inner;
}

/** Where a px lies, as a part of the width of the panels. @param {Frame} frame @param {number} px */
export function shareOf({ left, inner }, px) {
  return (px - left) / inner;
}

/** The px of a y in a panel. @param {Panel} panel @param {number} y */
export function down({ top, height, range: [low, high] }, y) {
  return top + ((high - y) / (high - low)) * height;
}

/**
 * @param {Frame} frame
 * @param {Theme} theme
 * @param {boolean} circles whether there are any to explain
 */
export function layoutOf(frame, theme, circles) {
  const { width, height, left, inner, size, x, forward, gradient } = frame;
  const bottom = gradient.top + gradient.height;
  const domain = (/** @type {Panel} */ { top, height: tall }) => [
    (bottom - top - tall) / (bottom - forward.top),
    (bottom - top) / (bottom - forward.top),
  ];
  return {
    ...groundOf(theme, { width, height, size }),
    autosize: false,
    margin: { l: left, r: width - left - inner, t: forward.top, b: height - bottom, pad: 0 },
    xaxis: { ...uncut(axis("x", ticks(x, inner / FINGER, X_LETTERS)), frame), range: x, anchor: "y2" },
    yaxis: { ...axis("forward y", upwards(forward, size)), range: forward.range, domain: domain(forward) },
    yaxis2: {
      ...axis("gradient", upwards(gradient, size)),
      range: gradient.range,
      domain: domain(gradient),
      anchor: "x",
    },
    annotations: circles
      ? [note("● value  ○ limit", { x: 0, xanchor: "left", y: 1, yanchor: "bottom" })]
      : [],
  };
}

/** Ticks of a panel. @param {Panel} panel @param {number} size of letters in px */
function upwards({ range, height }, size) {
  return ticks(range, height / (LINES * size), Y_LETTERS);
}

/** @param {string} name @param {ReturnType<typeof ticks>} marks */
function axis(name, marks) {
  return {
    ...AXIS,
    title: { text: titleOf(name, marks), standoff: 6 },
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
  const fits = (/** @type {string} */ text, /** @type {number} */ place) =>
    (DIGIT * size * text.length) / 2 <= beyond(axis.tickvals[place]);
  return {
    ...axis,
    ticktext: axis.ticktext.map((/** @type {string} */ text, /** @type {number} */ place) =>
      fits(text, place) ? text : "",
    ),
  };
}

/** @param {*} Plotly @param {HTMLElement} element @param {*[]} traces @param {*} layout */
export function drawPlot(Plotly, element, traces, layout) {
  return Plotly.react(element, traces, layout, CONFIG);
}

/**
 * Put values in the place of others that look the same, without drawing.
 * @param {*} element @param {*[]} traces those that are drawn, with other values
 */
export function exchangeValues(element, traces) {
  traces.forEach(({ x, y }, place) => Object.assign(element.data[place], { x, y }));
}
