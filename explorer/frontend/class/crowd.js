// A layer over the chart's lowest panel that shows the curves drawn by all students of a class.

import { findPanel } from "../chart/scene/panels.js";
import { element } from "../elements/dom.js";
import { shape } from "../elements/svg.js";

/** @import { Frame } from "../chart/scene/panels.js" */

const MIN_OPACITY = 0.05; // opacity of each curve if there are very many
const OPAQUE_COUNT = 10; // about this many overlapping curves are opaque

/**
 * Create a layer over a chart that shows the curves drawn by a class.
 *
 * Each curve is a path in the units of the axes: when the chart changes, only the box around all curves is updated.
 * @param {[number, number]} range of x of the drawings
 */
export function createCrowd([start, stop]) {
  const box = shape("svg", { preserveAspectRatio: "none" });
  const picture = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  picture.append(box);

  /**
   * Return a hand-drawn curve as the data of an SVG path in the units of the axes.
   * @param {ArrayLike<number>} values
   */
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
    element: element("div", { class: "drawing crowd" }, picture),
    /**
     * Show the curves that students have drawn.
     * @param {ArrayLike<number>[]} drawings values in cells of equal width, NaN for empty cells
     */
    show(drawings) {
      box.style.strokeOpacity = String(
        Math.max(MIN_OPACITY, Math.min(0.7, OPAQUE_COUNT / (drawings.length + 6))),
      );
      box.replaceChildren(
        ...drawings.map((values) =>
          shape("path", { d: formatDrawnPath(values), "vector-effect": "non-scaling-stroke" }),
        ),
      );
    },
    /**
     * Align the layer with the chart after the chart's panels have moved.
     * @param {Frame} frame the positions of the panels
     */
    follow(frame) {
      const [low, high] = frame.x;
      const { top, height, range } = findPanel(frame, "part");
      const [min, max] = range;
      const place = { x: frame.left, y: top, width: frame.inner, height };
      for (const [name, value] of Object.entries(place)) box.setAttribute(name, String(value));
      box.setAttribute("viewBox", [low, -max, high - low, max - min].join(" "));
    },
  };
}
