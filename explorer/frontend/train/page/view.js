// The parts of the page of trainings, and how a picture is put into them.

import { element, setText } from "../../elements/dom.js";
import { createExamples } from "../../cards/examples.js";
import { createTrainChart } from "../charts/chart.js";
import { createAlignment } from "../evidence/alignment-chart.js";
import { createCommands } from "./commands.js";
import { createControls } from "../settings/baselines.js";
import { createLift } from "../widgets/highlight.js";
import { createSwitch } from "../widgets/toggle-group.js";
import { createPicker } from "../settings/task-picker.js";
import { createRows } from "./metrics-table.js";
import { createSentence } from "../widgets/live-text.js";
import { createSettings } from "../settings/form.js";
import { createSlowMotion } from "../slow-motion/dialog.js";
import { createTable } from "../settings/table-input.js";
import { newTable } from "../state/own-table.js";
import { entered, taskOf, withOwnOp, withSetting, withTask } from "../state/tasks.js";
import { createTravel } from "../history/view.js";
import { createWhy } from "../evidence/view.js";

/** @import { Picture } from "./view-model.js" */

/**
 * The actions of the page.
 * @typedef {{onStart: () => void, onPause: () => void, onResume: () => void, onStep: () => void,
 *   onReset: () => void, onTable: (table: import("../state/own-table.js").OwnTable) => void,
 *   onMeasure: (measure: import("../state/series.js").Measure) => void,
 *   onAligned: (kind: import("../state/state.js").Aligned) => void,
 *   onPanel: (key: string, open: boolean) => void, onLayer: (layer: number) => void,
 *   onLegend: (panel: import("../panels/panel.js").Panel, index: number) => void,
 *   onNumber: (key: string, name: string, value: number) => void, onSearch: () => void,
 *   onSetting: (name: string, text: string, phase: string) => void,
 *   onSlowMotion: () => void, onFirst: () => void, onAgain: () => void,
 *   onSlow: (position: import("../slow-motion/view-model.js").Position|null) => void}} Acts
 */

/**
 * @param {HTMLElement} host with the skeleton
 * @param {{store: ReturnType<typeof import("../../choice/store.js").createStore>, plotly: string,
 *   examples: import("../../cards/examples.js").Example[],
 *   onPresent: (present: import("../../cards/cards.js").Present) => void}} reach
 * @param {Acts & ReturnType<typeof import("../history/controller.js").createMachine>} on
 */
export function createPainter(host, { store, plotly, examples, onPresent }, on) {
  const find = (/** @type {string} */ name) => /** @type {HTMLElement} */ (host.querySelector(`.${name}`));
  const commands = createCommands(
    { buttons: find("commands"), status: find("status") },
    { ...on, onOwnOp: () => store.change(withOwnOp(store.now)) },
  );
  const picker = createPicker(find("tasks"), (key) => store.change(withTask(store.now, key)));
  let pasted = ""; // the table that is learnt from
  const menu = createExamples(
    examples,
    (choice, its) => {
      if (its) on.onTable(newTable(its));
      store.change({ ...entered(choice, "link"), section: store.now.section, tools: store.now.tools });
    },
    ({ choice, table: its }, other) => taskOf(choice).key === taskOf(other).key && (!its || its === pasted),
  );
  find("about").append(menu.element);
  const table = createTable(find("table"), on);
  const title = element("h2", {});
  const measures = createSwitch("Shown in the chart", on.onMeasure);
  find("titles").append(title, measures.element);
  const verdict = createSentence(find("verdict"));
  const lift = createLift(host);
  const travel = createTravel(find("time"), on);
  const curves = createTrainChart(find("curves"), { plotly, onPoint: lift.lift, onArea: travel.align });
  const alignment = createAlignment(find("alignment"), { plotly, onPoint: lift.lift, onKind: on.onAligned });
  const why = createWhy(find("why"), on, { plotly, onPoint: lift.lift });
  const rows = createRows(find("measured"));
  const controls = createControls(find("cards"), store);
  const settings = createSettings(
    { live: find("live"), rest: find("setup"), own: { sigma: alignment.smoothing } },
    store,
    on.onSetting,
  );

  const slow = createSlowMotion(host, on);

  return {
    /** @param {Picture} picture */
    paint(picture) {
      host.classList.add("filled");
      const { choice } = picture;
      commands.show(picture);
      picker.show(picture.task.key);
      pasted = picture.table.own.text;
      menu.show(choice, picture.about);
      table.show(picture.table);
      setText(title, picture.heading);
      measures.show(picture.measures.options, picture.measures.chosen);
      curves.draw(picture.chart);
      travel.show(picture.time);
      alignment.show(picture.alignment);
      why.show(picture.why);
      rows.show(picture.rows);
      controls.show(choice);
      onPresent(picture.present);
      settings.show(withSetting(choice, "lr", picture.rate));
      verdict.show(picture.verdict, picture.moving);
      slow.show(picture.slow);
    },
    destroy() {
      [curves, alignment, why, lift, slow].forEach((part) => part.destroy());
    },
  };
}
