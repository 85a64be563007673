// The chart of the loss along each rule's next optimizer step, which is measured on request.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createTrainChart } from "../charts/chart.js";

/**
 * The result; ``offer`` is the label of the button that measures again, "" if the nets have not changed since.
 * @typedef {{title: string, sentence: string, limits: string, measured: boolean, offer: string,
 *   chart: import("../charts/chart.js").Picture}} Picture
 */

/** @param {{plotly: string, onPoint: (rule: string|null) => void}} reach @param {() => void} onAgain */
export function createSearch(reach, onAgain) {
  const [title, sentence, limits] = [element("h3", {}), element("p", {}), element("p", { class: "warning" })];
  const button = element("button", { onclick: onAgain });
  const frame = element("div", { class: "searched" });
  const section = element(
    "section",
    { class: "why-panel line_search" },
    element("header", {}, title, sentence, limits, button),
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
      setText(button, picture.offer);
      setAttribute(button, "hidden", !picture.offer);
      setAttribute(frame, "hidden", !picture.measured);
      setAttribute(section, "aria-label", picture.title);
      chart.draw(picture.chart);
    },
    destroy: chart.destroy,
  };
}
