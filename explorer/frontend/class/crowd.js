// The curves that all students of a class have drawn, as a layer over the chart's lowest panel.

import { findPanel, toLeftPx, toTopPx } from "../chart/scene/panels.js";
import { element } from "../elements/dom.js";
import { h, render } from "../elements/render.js";

/** @import { Frame } from "../chart/scene/panels.js" */

const MIN_OPACITY = 0.05; // opacity of each curve in a very large class
const OPAQUE_COUNT = 10; // about this many overlapping curves look opaque
const MAX_NUMBERED = 9; // maximum number of curves with numbers, around which labels are placed

/**
 * Create a layer with all curves that a class has drawn. Its paths are in the units of the axes, so that only the box
 * around them changes with the chart.
 * @param {[number, number]} range the range of x of the drawings
 */
export function createCrowd([start, stop]) {
  const layer = element("div", { class: "drawing crowd" });
  let paths = /** @type {import("../elements/render.js").Part[]} */ ([]);
  let numbered = /** @type {ArrayLike<number>[]} */ ([]);
  let frame = /** @type {Frame|null} */ (null);

  function draw() {
    if (!frame) return;
    const { top, height, range } = findPanel(frame, "part");
    const [[low, high], [min, max]] = [frame.x, range];
    const viewBox = [low, -max, high - low, max - min].join(" ");
    const place = { x: frame.left, y: top, width: frame.inner, height };
    const box = h("svg", { preserveAspectRatio: "none", viewBox, ...place }, paths);
    render(layer, h("svg", { class: "chart-overlay", "aria-hidden": "true" }, box, numbered.map(drawNumber)));
  }

  /** Draw a curve's number on it, left of most labels. @param {ArrayLike<number>} values @param {number} index */
  function drawNumber(values, index) {
    const cell = Math.round(((index + 1) / (1.3 * MAX_NUMBERED)) * values.length);
    if (!frame || Number.isNaN(values[cell])) return null;
    const [x, y] = [toLeftPx(frame, toX(values, cell)), toTopPx(findPanel(frame, "part"), values[cell])];
    return h(
      "text",
      { class: "chart-label", x, y, dy: "0.35em", "text-anchor": "middle" },
      `№${index + 1}`, // no value
    );
  }

  const toX = (/** @type {ArrayLike<number>} */ values, /** @type {number} */ cell) =>
    start + ((cell + 0.5) / values.length) * (stop - start);

  /** @param {ArrayLike<number>} values */
  function formatDrawnPath(values) {
    let pen = "M";
    let path = "";
    Array.from(values).forEach((value, cell) => {
      if (Number.isNaN(value)) pen = "M";
      else {
        path += `${pen}${toX(values, cell).toPrecision(5)},${(-value).toPrecision(4)}`;
        pen = "L";
      }
    });
    return path;
  }

  return {
    element: layer,
    /** @param {ArrayLike<number>[]} drawings heights in cells of equal width, NaN for empty ones */
    show(drawings) {
      const opacity = Math.max(MIN_OPACITY, Math.min(0.7, OPAQUE_COUNT / (drawings.length + 6)));
      const style = { "vector-effect": "non-scaling-stroke", "stroke-opacity": opacity };
      numbered = drawings.length > MAX_NUMBERED ? [] : drawings;
      paths = drawings.map((values) => h("path", { d: formatDrawnPath(values), ...style }));
      draw();
    },
    /** Return the curves that have numbers. */
    curves: () =>
      numbered.map((y) => ({ x: Float64Array.from(y, (_, cell) => toX(y, cell)), y: Float64Array.from(y) })),
    /** @param {Frame} next the positions of the panels */
    follow(next) {
      frame = next;
      draw();
    },
  };
}
