// The data of a training behind the gradients, if some were carried here.

import { across } from "../../chart/scene/panels.js";
import { loadCarried, saveCarried } from "../../choice/data.js";
import { element, setAttribute } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";

/** @import { Frame } from "../../chart/scene/panels.js" */
/** @import { Carried } from "../../choice/data.js" */

const ROOF = 0.94; // of the panel's height, for the highest bar that is not an end
const STAYS = "kept over a reload, in no link";

/** The bars of carried data behind a chart; null if nothing was carried. */
export function createCarried() {
  const data = loadCarried();
  if (!data) return null;
  const bars = shape("path", {});
  const picture = shape("svg", { class: "carried-bars", "aria-hidden": "true" });
  picture.append(bars);
  const remove = element("button", { "aria-label": "Remove these data", onclick: gone }, "×");
  const name = element("p", { class: "carried-name" }, `Grey: ${data.of}; ${STAYS}. ${data.note} `, remove);

  function gone() {
    saveCarried(null);
    picture.remove();
    name.remove();
  }

  return {
    /** @param {HTMLElement} area of a chart: the bars lie behind its curves */
    put(area) {
      area.prepend(picture);
      area.append(name);
    },
    /** @param {Frame} frame */
    follow(frame) {
      const { left, inner, gradient, part } = frame;
      name.hidden = part !== null; // then they lie beneath what learns, where they are chosen
      setAttribute(bars, "d", part ? "" : barsPath(data, frame, gradient));
      Object.assign(name.style, { left: `${left}px`, width: `${inner}px`, top: `${gradient.top}px` });
    },
  };
}

/**
 * The bars in px of a chart, in one of its panels, cut at the ends of its x.
 * @param {Pick<Carried, "edges"|"counts">} data
 * @param {Frame} frame
 * @param {{top: number, height: number}} panel
 */
export function barsPath({ edges, counts }, frame, panel) {
  const { x } = frame;
  const ground = panel.top + panel.height;
  const most = Math.max(...counts.slice(1, -1)) || Math.max(...counts, 1);
  const px = (/** @type {number} */ at) => across(frame, at).toFixed(1);
  const bars = counts.map((count, bin) => {
    const [from, to] = [edges[bin], edges[bin + 1]].map((edge) => Math.min(Math.max(edge, x[0]), x[1]));
    const top = ground - panel.height * Math.min((ROOF * count) / most, 1);
    return count && to > from ? `M${px(from)},${ground}V${top.toFixed(1)}H${px(to)}V${ground}Z` : "";
  });
  return bars.join("");
}
