// Curves as SVG paths in px, set between two drawings of Plotly.

import { clampTo } from "../../formula/numbers.js";
import { across, down, panelOf } from "./panels.js";
import { setPath } from "../plotly/svg-paths.js";

/** @import { Pixels } from "../plotly/svg-paths.js" */
/** @import { Frame, PanelName } from "./panels.js" */
/** @import { Line } from "./traces.js" */

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
    points.y[to] = Number.isFinite(y[i]) ? clampTo(down(panel, y[i]) - panel.top, -FAR, FAR) : NaN;
    if (!gaps[i]) continue;
    to += 1;
    points.x[to] = points.x[to - 1];
    points.y[to] = NaN;
  }
  return points;
}

/**
 * Set the paths of all lines that Plotly has drawn, in the same order.
 * @param {HTMLElement} element
 * @param {{panel: PanelName}[]} lines
 * @param {Pixels[]} pixels
 */
export function movePaths(element, lines, pixels) {
  const groups = {
    forward: drawnLines(element, "xy"),
    gradient: drawnLines(element, "xy2"),
    part: drawnLines(element, "xy3"),
  };
  lines.forEach((line, index) => setPath(groups[line.panel].shift(), pixels[index]));
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
