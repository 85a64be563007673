// The curves that all students of a class have drawn, as a layer over the chart's lowest panel.

import { findPanel } from "../chart/scene/panels.js";
import { element } from "../elements/dom.js";
import { h, render } from "../elements/render.js";

/** @import { Frame } from "../chart/scene/panels.js" */

const MIN_OPACITY = 0.05; // opacity of each curve in a very large class
const OPAQUE_COUNT = 10; // about this many overlapping curves look opaque

/**
 * Create a layer with all curves that a class has drawn. Its paths are in the units of the axes, so that only the box
 * around them changes with the chart.
 * @param {[number, number]} range the range of x of the drawings
 */
export function createCrowd([start, stop]) {
  const layer = element("div", { class: "drawing crowd" });
  let curves = /** @type {Object<string, *>} */ ({}); // attributes of the box around all curves
  let paths = /** @type {import("../elements/render.js").Part[]} */ ([]);

  function draw() {
    const box = h("svg", { preserveAspectRatio: "none", ...curves }, paths);
    render(layer, h("svg", { class: "chart-overlay", "aria-hidden": "true" }, box));
  }

  /** @param {ArrayLike<number>} values */
  function formatDrawnPath(values) {
    const width = (stop - start) / values.length;
    let pen = "M";
    let path = "";
    Array.from(values).forEach((value, cell) => {
      if (Number.isNaN(value)) pen = "M";
      else {
        path += `${pen}${(start + (cell + 0.5) * width).toPrecision(5)},${(-value).toPrecision(4)}`;
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
      paths = drawings.map((values) => h("path", { d: formatDrawnPath(values), ...style }));
      draw();
    },
    /** @param {Frame} frame the positions of the panels */
    follow(frame) {
      const [low, high] = frame.x;
      const { top, height, range } = findPanel(frame, "part");
      const [min, max] = range;
      const place = { x: frame.left, y: top, width: frame.inner, height };
      curves = { ...place, viewBox: [low, -max, high - low, max - min].join(" ") };
      draw();
    },
  };
}
