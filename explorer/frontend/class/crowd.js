// The drawings of a whole class, over one another and over the chart's lower panel.

import { panelOf } from "../chart/scene/panels.js";
import { element } from "../elements/dom.js";
import { shape } from "../elements/svg.js";

/** @import { Frame } from "../chart/scene/panels.js" */

const FAINTEST = 0.05; // of a drawing among very many
const TOGETHER = 10; // drawings over one another that are as dark as one alone

/**
 * The layer, to be put over a chart. A drawing is a path in the units of the axes: whatever the chart does, only the
 * box around all of them is laid anew.
 * @param {[number, number]} range of x that was drawn over
 */
export function createCrowd([start, stop]) {
  const box = shape("svg", { preserveAspectRatio: "none" });
  const picture = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  picture.append(box);

  /** @param {ArrayLike<number>} values */
  function pathOf(values) {
    const width = (stop - start) / values.length;
    let pen = "M";
    let drawn = "";
    Array.from(values).forEach((value, cell) => {
      if (Number.isNaN(value)) pen = "M";
      else {
        drawn += `${pen}${(start + (cell + 0.5) * width).toPrecision(5)},${(-value).toPrecision(4)}`;
        pen = "L";
      }
    });
    return drawn;
  }

  return {
    element: element("div", { class: "drawing crowd" }, picture),
    /** @param {ArrayLike<number>[]} drawings the values of each, in cells of one width, NaN where nothing is */
    show(drawings) {
      box.style.strokeOpacity = String(Math.max(FAINTEST, Math.min(0.7, TOGETHER / (drawings.length + 6))));
      box.replaceChildren(
        ...drawings.map((values) =>
          shape("path", { d: pathOf(values), "vector-effect": "non-scaling-stroke" }),
        ),
      );
    },
    /** @param {Frame} frame where the panels lie now */
    follow(frame) {
      const [low, high] = frame.x;
      const { top, height, range } = panelOf(frame, "part");
      const [least, most] = range;
      const place = { x: frame.left, y: top, width: frame.inner, height };
      for (const [name, value] of Object.entries(place)) box.setAttribute(name, String(value));
      box.setAttribute("viewBox", [low, -most, high - low, most - least].join(" "));
    },
  };
}
