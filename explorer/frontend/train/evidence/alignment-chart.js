// The chart of alignment over the steps of a training run: the cosine between a rule's gradient and that of the net
// smoothed by noise.

import { element, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { createTrainChart } from "../charts/chart.js";
import { createToggleGroup } from "../widgets/toggle-group.js";

/** @import { Alignment as Picture } from "./alignment-data.js" */

/**
 * Create the chart of alignment.
 * @param {HTMLElement} host
 * @param {{plotly: string, onPoint: (rule: string|null) => void, onKind: (kind:
 *   import("../state/state.js").AlignmentMeasure) => void}} options ``onPoint``: called with the rule near the pointer,
 *   or null; ``onKind``: called with the measure to plot
 */
export function createAlignment(host, { plotly, onPoint, onKind }) {
  const kinds = createToggleGroup("Measure of alignment", onKind);
  const frame = element("div", { class: "aligned" });
  const smoothing = element("div", { class: "smoothing" });
  const chart = createTrainChart(frame, { plotly, onPoint });
  return {
    smoothing,
    /** @param {Picture} picture */
    show({ title, sentence, limits, note, kinds: { options, chosen }, missing, chart: drawing }) {
      const says = h("div", {}, h("p", {}, sentence), h("p", {}, limits));
      const details = h("details", { class: "explained text-small" }, h("summary", {}, "What it says"), says);
      render(
        host,
        h("div", { class: "titles flex-wrap" }, h("h2", {}, title), details, kinds.element),
        frame,
        h("p", { class: "missing text-small" }, missing),
        h("div", { class: "below" }, h("p", { class: "note text-small" }, note), smoothing),
      );
      kinds.show(options, chosen);
      setAttribute(host, "data-missing", missing !== "");
      if (!missing) chart.draw(drawing);
    },
    destroy: chart.destroy,
  };
}
