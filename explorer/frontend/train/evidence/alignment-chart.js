// The chart of how well each rule's gradient aligns with that of the smoothed op during training.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createTrainChart } from "../charts/chart.js";
import { createSwitch } from "../widgets/toggle-group.js";

/** @import { Alignment as Picture } from "./alignment-data.js" */

/**
 * @param {HTMLElement} host
 * @param {{plotly: string, onPoint: (rule: string|null) => void,
 *   onKind: (kind: import("../state/state.js").AlignmentMeasure) => void}} options
 */
export function createAlignment(host, { plotly, onPoint, onKind }) {
  const title = element("h2", {});
  const kinds = createSwitch("Measure of alignment", onKind);
  const sentence = element("p", {});
  const limits = element("p", {});
  const details = element(
    "details",
    { class: "explained" },
    element("summary", {}, "What it says"),
    element("div", {}, sentence, limits),
  );
  const frame = element("div", { class: "aligned" });
  const note = element("p", { class: "note" });
  const missing = element("p", { class: "missing" });
  const smoothing = element("div", { class: "smoothing" });
  host.append(
    element("div", { class: "titles" }, title, details, kinds.element),
    frame,
    missing,
    element("div", { class: "below" }, note, smoothing),
  );
  const chart = createTrainChart(frame, { plotly, onPoint });
  return {
    smoothing,
    /** @param {Picture} picture */
    show(picture) {
      setText(title, picture.title);
      setText(sentence, picture.sentence);
      setText(limits, picture.limits);
      setText(note, picture.note);
      kinds.show(picture.kinds.options, picture.kinds.chosen);
      setText(missing, picture.missing);
      setAttribute(host, "data-missing", picture.missing !== "");
      if (!picture.missing) chart.draw(picture.chart);
    },
    destroy: chart.destroy,
  };
}
