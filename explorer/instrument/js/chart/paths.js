// Curves as SVG paths in px, set between two drawings of Plotly.

import { across, down, panelOf } from "./plot.js";

/** @typedef {import("./traces.js").Line} Line */
/** @typedef {import("./plot.js").Frame} Frame */
/** A curve in px; y is NaN where the line breaks. @typedef {{x: Float64Array, y: Float64Array}} Pixels */

/** Px that nobody sees. */
export const UNSEEN = 0.05;
const FAR = 20_000; // px: beyond any screen, within what browsers draw

/**
 * The points of a line in px, relative to the left end and the top of its panel.
 * @param {Line} line
 * @param {Frame} frame
 * @returns {Pixels}
 */
export function pixelsOf({ x, y, gaps, panel: name }, frame) {
  const panel = panelOf(frame, name);
  const count = x.length + gaps.reduce((sum, gap) => sum + gap, 0);
  const points = { x: new Float64Array(count), y: new Float64Array(count) };
  for (let i = 0, to = 0; i < x.length; i += 1, to += 1) {
    points.x[to] = across(frame, x[i]) - frame.left;
    points.y[to] = Number.isFinite(y[i]) ? clipped(down(panel, y[i]) - panel.top) : NaN;
    if (!gaps[i]) continue;
    to += 1;
    points.x[to] = points.x[to - 1];
    points.y[to] = NaN;
  }
  return points;
}

/** @param {number} y */
function clipped(y) {
  return Math.min(Math.max(y, -FAR), FAR);
}

/**
 * The text of a path in tenths of px. Of points on one straight line only the ends are in it, which the
 * browser draws in a fraction of the time.
 * @param {Pixels} pixels
 */
function pathText({ x, y }) {
  let text = "";
  for (let i = 0; i < x.length; i += 1) {
    if (y[i] !== y[i]) continue;
    const pen = i && y[i - 1] === y[i - 1] ? "L" : "M";
    if (pen === "L") i = straightEnd(x, y, i - 1);
    text += `${pen}${tenths(x[i])},${tenths(y[i])}`;
  }
  return text;
}

/** A length in px as it stands in a path. @param {number} px */
export function tenths(px) {
  return Math.round(px * 10) / 10;
}

/**
 * How far points lie on the straight line that leads from one to the next.
 * @param {Float64Array} x
 * @param {Float64Array} y
 * @param {number} from
 */
function straightEnd(x, y, from) {
  const [dx, dy] = [x[from + 1] - x[from], y[from + 1] - y[from]];
  const most = UNSEEN * Math.hypot(dx, dy);
  let end = from + 1;
  while (most && Math.abs((x[end + 1] - x[from]) * dy - (y[end + 1] - y[from]) * dx) <= most) end += 1;
  return end;
}

/**
 * Set the path of a line that Plotly has drawn. It has one
 * for each part of the line: the first takes all of it.
 * @param {Element|undefined} trace
 * @param {Pixels} pixels
 */
export function setPath(trace, pixels) {
  const [first, ...rest] = trace?.querySelectorAll(".js-line") ?? [];
  const text = pathText(pixels);
  first?.setAttribute("d", text);
  trace?.querySelector(".js-fill")?.setAttribute("d", text && `${text}Z`);
  for (const path of rest) path.setAttribute("d", "");
}

/**
 * Set the paths of all lines that Plotly has drawn, in the same order.
 * @param {HTMLElement} element
 * @param {{panel: import("./plot.js").PanelName}[]} lines
 * @param {Pixels[]} pixels
 */
export function movePaths(element, lines, pixels) {
  const groups = {
    forward: drawnLines(element, "xy"),
    gradient: drawnLines(element, "xy2"),
    part: drawnLines(element, "xy3"),
  };
  lines.forEach((line, place) => setPath(groups[line.panel].shift(), pixels[place]));
}

/** @param {HTMLElement} element @param {string} panel */
function drawnLines(element, panel) {
  return [...element.querySelectorAll(`.cartesianlayer .${panel} .scatterlayer > .trace`)];
}

/**
 * The circles of a line in px of the chart, as the text of one path.
 * @param {Line} line
 * @param {number[]} at
 * @param {Frame} frame
 * @param {number} radius
 */
export function circlesText({ x, y, panel: name }, at, frame, radius) {
  const panel = panelOf(frame, name);
  const inside = at.filter((i) => y[i] >= panel.range[0] && y[i] <= panel.range[1]);
  return inside.map((i) => circle(across(frame, x[i]), down(panel, y[i]), radius)).join("");
}

/** @param {number} x @param {number} y @param {number} r */
function circle(x, y, r) {
  return `M${(x - r).toFixed(1)},${y.toFixed(1)}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0`;
}
