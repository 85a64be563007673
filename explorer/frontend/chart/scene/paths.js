// Curves as SVG paths, drawn during a drag and in the first frame after a click, when Plotly would be too slow.

import { clampTo } from "../../formula/numbers.js";
import { toLeftPx, toTopPx, findPanel } from "./panels.js";
import { setPath } from "../plotly/svg-paths.js";
import { getDash } from "./traces.js";

/** @import { Pixels } from "../plotly/svg-paths.js" */
/** @import { Frame, PanelName } from "./panels.js" */
/** @import { Line } from "./traces.js" */

const NO_PIXELS = { x: new Float64Array(), y: new Float64Array() };
const MAX_PX = 20_000; // farther than any screen reaches, but within the limits of browsers

/**
 * Convert the points of a curve to px from the top left corner of its panel. y is NaN where the line breaks.
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
 * Replace the SVG paths of all lines that Plotly has drawn, and empty those of further ones.
 * @param {HTMLElement} element the element with Plotly's drawing @param {{panel: PanelName}[]} lines
 * @param {Pixels[]} pixels
 */
export function movePaths(element, lines, pixels) {
  const groups = findDrawnLines(element);
  lines.forEach((line, index) => setPath(groups[line.panel].shift(), pixels[index]));
  for (const group of Object.values(groups).flat()) setPath(group, NO_PIXELS);
}

/**
 * Give the lines that Plotly has drawn the look of other lines, in each panel in order. If there are too few, the last
 * one is copied. Copies have the class "chart-copy" and must be removed before Plotly draws.
 * @param {HTMLElement} element the element with Plotly's drawing @param {Line[]} lines
 */
export function matchLines(element, lines) {
  for (const [panel, groups] of Object.entries(findDrawnLines(element)))
    for (const [index, line] of lines.filter((one) => one.panel === panel).entries()) {
      if (index === groups.length) {
        groups.push(/** @type {Element} */ (groups[index - 1].cloneNode(true)));
        groups[index].classList.add("chart-copy");
        groups[index - 1].after(groups[index]);
      }
      const path = /** @type {SVGElement|null} */ (groups[index].querySelector(".js-line"));
      const look = { stroke: line.colour, strokeWidth: `${line.width}px`, strokeDasharray: getDash(line) };
      if (path) Object.assign(path.style, { strokeOpacity: "1", ...look });
    }
}

/**
 * Return the SVG elements of the lines that Plotly has drawn by panel, without those of circles.
 * @param {HTMLElement} element @returns {Record<PanelName, Element[]>}
 */
function findDrawnLines(element) {
  const [forward, gradient, part] = ["xy", "xy2", "xy3"].map((panel) => [
    ...element.querySelectorAll(`.cartesianlayer .${panel} .scatterlayer > .trace:not(:has(.point))`),
  ]);
  return { forward, gradient, part };
}

/**
 * Format circles at some points of a curve as one SVG path. Points out of the panel are left out.
 * @param {Line} line @param {number[]} at indices of the points @param {Frame} frame @param {number} radius
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
