// Curves as SVG paths, drawn during a drag when Plotly would be too slow.

import { clampTo } from "../../formula/numbers.js";
import { toLeftPx, toTopPx, findPanel } from "./panels.js";
import { setPath } from "../plotly/svg-paths.js";

/** @import { Pixels } from "../plotly/svg-paths.js" */
/** @import { Frame, PanelName } from "./panels.js" */
/** @import { Line } from "./traces.js" */

const MAX_PX = 20_000; // farther than any screen reaches, but within the limits of browsers

/**
 * Convert a curve's points to px from its panel's top left corner.
 * @param {Line} line @param {Frame} frame @returns {Pixels}
 */
export function toPixels({ x, y, gaps, panel: name }, frame) {
  const panel = findPanel(frame, name);
  const count = x.length + gaps.reduce((sum, gap) => sum + gap, 0);
  const points = { x: new Float64Array(count), y: new Float64Array(count) };
  for (let i = 0, to = 0; i < x.length; i += 1, to += 1) {
    points.x[to] = toLeftPx(frame, x[i]) - frame.left;
    points.y[to] = Number.isFinite(y[i]) ? clampTo(toTopPx(panel, y[i]) - panel.top, -MAX_PX, MAX_PX) : NaN;
    if (!gaps[i]) continue;
    to += 1;
    points.x[to] = points.x[to - 1];
    points.y[to] = NaN;
  }
  return points;
}

/**
 * Replace the SVG paths of all lines that Plotly has drawn.
 * @param {HTMLElement} element @param {{panel: PanelName}[]} lines @param {Pixels[]} pixels
 */
export function movePaths(element, lines, pixels) {
  const groups = {
    forward: findDrawnLines(element, "xy"),
    gradient: findDrawnLines(element, "xy2"),
    part: findDrawnLines(element, "xy3"),
  };
  lines.forEach((line, index) => setPath(groups[line.panel].shift(), pixels[index]));
}

/** @param {HTMLElement} element @param {string} panel */
function findDrawnLines(element, panel) {
  return [...element.querySelectorAll(`.cartesianlayer .${panel} .scatterlayer > .trace`)];
}

/**
 * Format circles at some points of a curve as one SVG path.
 * @param {Line} line @param {number[]} at indices @param {Frame} frame @param {number} radius
 */
export function formatCircles({ x, y, panel: name }, at, frame, radius) {
  const panel = findPanel(frame, name);
  const inside = at.filter((i) => y[i] >= panel.range[0] && y[i] <= panel.range[1]);
  return inside.map((i) => formatCircle(toLeftPx(frame, x[i]), toTopPx(panel, y[i]), radius)).join("");
}

/** @param {number} x @param {number} y @param {number} r */
function formatCircle(x, y, r) {
  return `M${(x - r).toFixed(1)},${y.toFixed(1)}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0`;
}
