// The line search: the loss along each rule's next optimiser step, measured on request.

import { element, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { createTrainChart } from "../charts/chart.js";

/**
 * The contents of the line search. ``measured``: whether there is a measurement; ``offer``: the label of the button
 * that measures, or "" if it is up to date.
 * @typedef {{title: string, sentence: string, limits: string, measured: boolean, offer: string, chart:
 *   import("../charts/chart.js").Picture}} Picture
 */

/**
 * Create the chart of the line search.
 * @param {{plotly: string, onPoint: (rule: string|null) => void}} reach ``onPoint``: called with the rule at the
 *   pointer or null
 * @param {() => void} onAgain called to measure (again)
 */
export function createSearch(reach, onAgain) {
  const frame = element("div", { class: "searched" });
  const section = element("section", { class: "why-panel line_search" });
  const chart = createTrainChart(frame, reach);
  return {
    element: section,
    /** @param {Picture} picture */
    show({ title, sentence, limits, measured, offer, chart: drawing }) {
      setAttribute(section, "aria-label", title);
      frame.hidden = !measured;
      const texts = [h("h3", {}, title), h("p", {}, sentence), h("p", { class: "warning" }, limits)];
      render(section, h("header", {}, texts, offer && h("button", { onclick: onAgain }, offer)), frame);
      chart.draw(drawing);
    },
    destroy: chart.destroy,
  };
}
