// The loss along the step that each rule would take: asked for once, and drawn over the length of the step.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createTrainChart } from "../charts/chart.js";

/**
 * The result; ``offer`` is on the button while it can be measured anew, "" where the nets have not moved
 * since.
 * @typedef {{title: string, sentence: string, limits: string, measured: boolean, offer: string,
 *   chart: import("../charts/chart.js").Picture}} Picture
 */

/**
 * @param {{plotly: string, onPoint: (rule: string|null) => void}} reach
 * @param {() => void} onAgain
 */
export function createSearch(reach, onAgain) {
  const [title, sentence, limits] = [element("h3", {}), element("p", {}), element("p", { class: "warning" })];
  const again = element("button", { onclick: onAgain });
  const frame = element("div", { class: "searched" });
  const section = element(
    "section",
    { class: "why-panel line_search" },
    element("header", {}, title, sentence, limits, again),
    frame,
  );
  const chart = createTrainChart(frame, reach);
  return {
    element: section,
    /** @param {Picture} picture */
    show(picture) {
      setText(title, picture.title);
      setText(sentence, picture.sentence);
      setText(limits, picture.limits);
      setText(again, picture.offer);
      setAttribute(again, "hidden", !picture.offer);
      setAttribute(frame, "hidden", !picture.measured);
      setAttribute(section, "aria-label", picture.title);
      chart.draw(picture.chart);
    },
    destroy: chart.destroy,
  };
}
