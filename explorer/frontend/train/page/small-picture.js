// A compact view of a training run: a sentence, each rule's drawn backward pass, and the curve.

import { createChildren } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { createTrainChart } from "../charts/chart.js";
import { createLaneCard } from "../object/lane.js";
import { formatGridColumns } from "../object/object.js";
import { createSentence } from "../widgets/live-text.js";

/**
 * Create the compact view of a training run, below a bar.
 * @param {HTMLElement} bar @param {string|Promise<*>} plotly
 */
export function createSmallPicture(bar, plotly) {
  const [verdict, cards, curves] = ["verdict", "cards", "curves"].map((name) =>
    element("div", { class: name }),
  );
  const title = element("h3", {});
  const object = element("div", { class: "object" }, cards);
  const race = element("div", { class: "race" }, title, curves);
  const root = element("div", { class: "instrument training filled lab small" }, bar, verdict, object, race);
  const chart = createTrainChart(curves, { plotly, onPoint: () => undefined });
  const lanes = createChildren(cards, createLaneCard, ({ line }) => line.key);
  const sentence = createSentence(verdict);
  return {
    root,
    /**
     * Show a state of the training run. ``plates`` is the number of parts of the drawn net; with ``isMoving``,
     * another sentence will follow soon.
     * @param {{heading: string, words: string, isMoving: boolean, plates: number, chart: import("../charts/chart.js").Picture,
     *   lanes: import("../object/view-model.js").Lane[]}} picture
     */
    show({ heading, words, isMoving, plates, chart: drawn, lanes: shown }) {
      setText(title, heading);
      sentence.show(words, isMoving);
      object.style.setProperty("--columns", formatGridColumns(plates));
      lanes.show(shown);
      chart.draw(drawn);
    },
    destroy: chart.destroy,
  };
}
