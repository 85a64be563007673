// A histogram of the op's inputs in a training run, plotted behind the gradients. It is shown after the user has sent
// it from the page Train.

import { toLeftPx } from "../../chart/scene/panels.js";
import { loadCarried, saveCarried } from "../../choice/data.js";
import { element, setAttribute } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";

/** @import { Frame } from "../../chart/scene/panels.js" */
/** @import { Carried } from "../../choice/data.js" */

const MAX_BAR = 0.94; // height of the highest inner bar, as a fraction of the panel
const STORAGE_TEXT = "kept after a reload, not part of links";

/** Create the histogram of an op's inputs in a training run. Returns null if none is stored. */
export function createCarried() {
  const data = loadCarried();
  if (!data) return null;
  const bars = shape("path", {});
  const picture = shape("svg", { class: "carried-bars", "aria-hidden": "true" });
  picture.append(bars);
  const remove = element("button", { "aria-label": "Remove these data", onclick: removeData }, "×");
  const name = element(
    "p",
    { class: "carried-name flex-row text-small" },
    `Grey: ${data.of}; ${STORAGE_TEXT}. ${data.note} `,
    remove,
  );

  function removeData() {
    saveCarried(null);
    picture.remove();
    name.remove();
  }

  return {
    /** @param {HTMLElement} area the element with the chart */
    put(area) {
      area.prepend(picture);
      area.append(name);
    },
    /** @param {Frame} frame */
    follow(frame) {
      const { left, inner, gradient, part } = frame;
      name.hidden = part !== null; // a learning parameter's panel shows the data itself
      setAttribute(bars, "d", part ? "" : formatBars(data, frame, gradient));
      Object.assign(name.style, { left: `${left}px`, width: `${inner}px`, top: `${gradient.top}px` });
    },
  };
}

/**
 * Format a histogram as an SVG path in px of the chart, within the visible range of x.
 * @param {Pick<Carried, "edges"|"counts">} data @param {Frame} frame @param {{top: number, height: number}} panel
 */
export function formatBars({ edges, counts }, frame, panel) {
  const { x } = frame;
  const ground = panel.top + panel.height;
  const maxCount = Math.max(...counts.slice(1, -1)) || Math.max(...counts, 1);
  const toPx = (/** @type {number} */ at) => toLeftPx(frame, at).toFixed(1);
  const bars = counts.map((count, bin) => {
    const [low, high] = [edges[bin], edges[bin + 1]].map((edge) => Math.min(Math.max(edge, x[0]), x[1]));
    const top = ground - panel.height * Math.min((MAX_BAR * count) / maxCount, 1);
    return count && high > low ? `M${toPx(low)},${ground}V${top.toFixed(1)}H${toPx(high)}V${ground}Z` : "";
  });
  return bars.join("");
}
