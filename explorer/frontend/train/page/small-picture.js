// A compact view of a training run: a sentence, each rule's drawn backward pass, and the curve.

import { createChildren } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { createTrainChart } from "../charts/chart.js";
import { createLaneCard, LANE_KEY } from "../object/lane.js";
import { formatGridColumns } from "../object/object.js";

/**
 * Create the compact view of a training run.
 * @param {HTMLElement} bar an element to place above it
 * @param {string|Promise<*>} plotly the address of Plotly's script, or the loaded module
 */
export function createSmallPicture(bar, plotly) {
  const [verdict, cards, curves] = ["verdict", "cards", "curves"].map((name) =>
    element("div", { class: name }),
  );
  const title = element("h3", {});
  const object = element("div", { class: "object" }, cards, element("p", { class: "lane-key" }, LANE_KEY));
  const race = element("div", { class: "race" }, title, curves);
  const run = element("div", { class: "of-run" }, bar, verdict, object);
  const root = element("div", { class: "instrument training filled lab small" }, run, race);
  const chart = createTrainChart(curves, { plotly, onPoint: () => undefined });
  const lanes = createChildren(cards, createLaneCard, ({ line }) => line.key);
  return {
    root,
    /**
     * Display a training run.
     * @param {{heading: string, words: string, chart: import("../charts/chart.js").Picture, lanes:
     *   import("../object/view-model.js").Lane[]}} picture ``words``: a sentence
     */
    show({ heading, words, chart: drawn, lanes: shown }) {
      const [longest] = shown.map(({ plates }) => plates).sort((one, other) => other.length - one.length);
      setText(title, heading);
      setText(verdict, words);
      object.style.setProperty("--columns", formatGridColumns(longest.map(({ plate }) => plate)));
      lanes.show(shown);
      chart.draw(drawn);
    },
    destroy: chart.destroy,
  };
}
