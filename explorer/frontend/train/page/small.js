// The training in a lesson: each rule's backward pass, the chart, and buttons that control the run.

import { createChildren } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { followColours } from "../../explore/stage/colours.js";
import { createTrainChart } from "../charts/chart.js";
import { createLaneCard } from "../object/lane.js";
import { formatGridColumns } from "../object/object.js";
import { NO_TABLE } from "../state/own-table.js";
import { readInk } from "../widgets/canvas.js";
import { createSentence } from "../widgets/live-text.js";
import { createCommands } from "./commands.js";
import { createModel } from "./model.js";
import { buildPicture } from "./view-model.js";

const STORED = { table: NO_TABLE, panels: {}, numbers: {} };

/** Creates the small training of a lesson. @typedef {typeof createSmallTraining} CreateSmallTraining */

/**
 * Create the training of a lesson, and start it.
 * @param {HTMLElement} host @param {import("./model.js").Store} store
 * @param {{server: (path: string) => string, plotly: string}} reach
 */
export function createSmallTraining(host, store, { server, plotly }) {
  const end = new AbortController();
  const [buttons, status, cards, curves] = ["commands", "status", "cards", "curves"].map((name) =>
    element("div", { class: name }),
  );
  const verdict = element("div", { class: "verdict" });
  const title = element("h3", {});
  const object = element("div", { class: "object" }, cards);
  const race = element("div", { class: "race" }, title, curves);
  const bar = element("div", { class: "bar" }, buttons, status);
  const root = element("div", { class: "instrument training filled lab small" }, bar, verdict, object, race);
  host.replaceChildren(root);
  const { colours } = followColours(root, () => model.page.become(getTheme()), end.signal);
  const getTheme = () => ({ colours: colours().rules, ink: readInk(root) });
  const model = createModel(store, { server, theme: getTheme(), stored: STORED, paint });
  const { onStart, onPause, onResume, onStep } = model.lifecycle.buttons;
  const commands = createCommands({ buttons, status }, { onStart, onPause, onResume, onStep });
  const chart = createTrainChart(curves, { plotly, onPoint: () => undefined });
  const lanes = createChildren(cards, createLaneCard, ({ line }) => line.key);
  const sentence = createSentence(verdict);
  model.page.put({ evidence: false });
  model.draw();
  onStart();
  root.scrollIntoView({ block: "start", behavior: "smooth" });

  /** Update all parts. @param {import("../state/state.js").State} state */
  function paint(state) {
    const picture = buildPicture(state);
    commands.show(picture);
    setText(title, picture.heading);
    object.style.setProperty("--columns", formatGridColumns(picture.object.plates.length));
    lanes.show(picture.object.lanes);
    chart.draw(picture.chart);
    sentence.show(picture.headline || picture.verdict, picture.moving);
  }

  return {
    destroy() {
      end.abort();
      model.destroy();
      chart.destroy();
    },
  };
}
