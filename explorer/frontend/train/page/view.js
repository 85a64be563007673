// The view of the Train page: creates its parts and updates them.

import { element, setText } from "../../elements/dom.js";
import { createExamples } from "../../cards/examples.js";
import { createTrainChart } from "../charts/chart.js";
import { createToolButtons } from "./calm.js";
import { createButton } from "../widgets/button.js";
import { createCommands } from "./commands.js";
import { createControls } from "../settings/baselines.js";
import { setOpenTools } from "../../choice/tools.js";
import { createHighlighting } from "../widgets/highlight.js";
import { createObject } from "../object/object.js";
import { createOnePanel } from "./one-panel.js";
import { createScriptPanel } from "./script-panel.js";
import { createTaskNote } from "../settings/task-note.js";
import { createTaskChip } from "../settings/task-chip.js";
import { createToggleGroup } from "../widgets/toggle-group.js";
import { createPicker } from "../settings/task-picker.js";
import { createMetricsTable } from "./metrics-table.js";
import { createSettings } from "../settings/form.js";
import { createSlowMotion } from "../slow-motion/dialog.js";
import { createTable } from "../settings/table-input.js";
import { makeTable } from "../state/own-table.js";
import { hasSameEnd, enterTraining, withSetting } from "../state/tasks.js";
import { createHistoryView } from "../history/view.js";
import { createAlignment, createWhy } from "../evidence/view.js";

/** @import { Picture } from "./view-model.js" */

/**
 * Callbacks of the page.
 * @typedef {{onStart: () => void, onPause: () => void, onResume: () => void, onStep: () => void, onReset: () => void,
 *   onTable: (table: import("../state/own-table.js").OwnTable) => void, onMeasure: (measure:
 *   import("../state/series.js").Measure) => void, onAligned: (kind: import("../state/state.js").AlignmentMeasure) =>
 *   void, onPanel: (key: string, open: boolean) => void, onLayer: (layer: number) => void, onLegend: (panel:
 *   import("../state/instruments.js").Panel, index: number) => void, onNumber: (key: string, name: string, value:
 *   number) => void, onSearch: () => void, onSetting: (name: string, text: string, phase: string) => void,
 *   compareDevices: () => Promise<string>, onWhy: (rule: string|null) => void, onFold: () => void, onWrong:
 *   (name: string) => void, onHighlight: (rule: string|null) => void, onEvidence: (evidence: boolean) => void,
 *   onSlowMotion: () => void, onFirst: () => void, onAgain: () => void, scriptKey: () => string, onScript: () =>
 *   Promise<{text?: string, message?: string}>, onSlow: (position:
 *   import("../slow-motion/view-model.js").Position|null) => void}} Acts
 */

/**
 * Create the elements of the Train page, and the function ``paint`` that updates them.
 * @param {HTMLElement} host an element with empty elements for the page's parts
 * @param {{store: ReturnType<typeof import("../../choice/store.js").createStore>, plotly: string, examples:
 *   import("../../cards/examples.js").Example[], onPresent: (present: import("../../cards/cards.js").Present) => void,
 *   cardOf: (slot: number) => import("../../cards/card.js").Holder|undefined}} reach ``onPresent``: called with learned
 *   values for the cards; ``cardOf``: returns the card in a slot
 * @param {Acts & ReturnType<typeof import("../history/controller.js").createHistory> & ReturnType<typeof
 *   import("./task-change.js").createTaskChange>} on
 */
export function createPainter(host, { store, plotly, examples, onPresent, cardOf }, on) {
  const find = (/** @type {string} */ name) => /** @type {HTMLElement} */ (host.querySelector(`.${name}`));
  const commands = createCommands({ buttons: find("commands"), status: find("status") }, on);
  const picker = createPicker(find("tasks"), on.onTask);
  const note = createTaskNote(find("asks"), on);
  let pasted = ""; // text of the user's table as shown
  const menu = createExamples(
    examples,
    (choice, its) => {
      if (its) on.onTable(makeTable(its));
      const { section, tools } = store.current;
      store.change({ ...enterTraining(choice, "link"), section, tools });
    },
    ({ choice, table: its }, other) => hasSameEnd(choice, other) && (!its || its === pasted),
  );
  find("about").append(menu.element);
  const tables = examples.filter((example) => example.table);
  const table = createTable(find("table"), on, tables);
  const title = element("h2", {});
  const measures = createToggleGroup("Shown in the chart", on.onMeasure);
  find("titles").append(title, measures.element);
  const past = element("span", {});
  const forget = createButton("×", on.onForget, "quiet");
  forget.ariaLabel = "Remove the curves of the run before";
  const attributes = { class: "past text-small flex-row", style: "--order: 1", hidden: true };
  const pastNote = element("p", attributes, past, forget);
  const wholeVerdict = element("p", { class: "whole-verdict" });
  const five = element("button", { hidden: true, onclick: onFive }, "Run five seeds");
  find("titles").after(pastNote);
  find("race").append(wholeVerdict, five);
  const highlighting = createHighlighting(host, on.onHighlight);
  const { highlight } = highlighting;
  host.classList.add("lab");
  document.documentElement.classList.add("at-train");
  find("object").hidden = false;
  const chip = createTaskChip(find("bar"), find("tasks"));
  find("bar").append(find("status"), find("verdict"));
  const parts = { object: find("object"), cards: find("cards"), reads: find("reads") };
  const onWhy = (/** @type {string|null} */ rule) => {
    on.onWhy(rule);
    requestAnimationFrame(() => find("one").scrollIntoView({ block: "nearest" }));
  };
  const object = createObject(parts, { cardOf, ...on, onWhy });
  const script = createScriptPanel(find("script"), on);
  const one = createOnePanel(find("one"), {
    onClose() {
      const opener = /** @type {HTMLElement|null} */ (host.querySelector('.why-of[aria-expanded="true"]'));
      on.onWhy(null);
      opener?.focus();
    },
    onEvidence() {
      setOpenTools(store, "evidence");
      requestAnimationFrame(() => find("why").scrollIntoView()); // after it has been painted, below the fold
    },
  });
  const tools = createToolButtons(host, find("dock"), { store, onOpen: on.onEvidence, onCode: script.turn });
  const travel = createHistoryView(find("time"), on);
  const curves = createTrainChart(find("curves"), { plotly, onPoint: highlight, onArea: travel.align });
  const alignment = createAlignment(find("alignment"), { plotly, onPoint: highlight, onKind: on.onAligned });
  const evidence = createWhy(find("why"), on, { plotly, onPoint: highlight });
  const rows = createMetricsTable(find("measured"));
  const controls = createControls(find("cards"), store);
  const hosts = { live: find("live"), rest: find("setup"), own: { sigma: alignment.smoothing } };
  const settings = createSettings(hosts, store, on.onSetting, on);

  const slow = createSlowMotion(host, on);

  function onFive() {
    on.onSetting("seeds", "5", "settled");
    on.onStart();
  }

  return {
    /** @param {Picture} picture */
    paint(picture) {
      host.classList.add("filled");
      const { choice } = picture;
      commands.show(picture);
      picker.show(picture.task.key);
      note.show(picture.asks);
      pasted = picture.table.own.text;
      menu.show(choice, picture.about, picture.object.begun);
      table.show(picture.table);
      setText(title, picture.heading);
      measures.show(picture.measures.options, picture.measures.chosen);
      curves.draw(picture.chart);
      setText(past, picture.past);
      pastNote.hidden = !picture.past;
      travel.show(picture.time);
      if (picture.why || picture.one) alignment.show(picture.alignment);
      if (picture.why) evidence.show(picture.why);
      if (picture.why) rows.show(picture.rows);
      controls.show(choice);
      onPresent(picture.present);
      settings.show(withSetting(choice, "lr", picture.rate));
      setText(find("verdict"), picture.headline);
      setText(wholeVerdict, picture.headline && picture.headline !== picture.verdict ? picture.verdict : "");
      five.hidden = !picture.offersSeeds;
      slow.show(picture.slow);
      chip.show(picture.task);
      object.show(picture.object);
      one.show(picture.one);
      script.follow();
      tools.showStep(picture.time.step, picture.time.hasRun);
      host.classList.toggle("begun", picture.object.begun);
      host.classList.toggle("refused", picture.status.state === "refused");
      host.classList.toggle("pictured", Boolean(picture.object.reads) && !picture.past);
      host.classList.toggle("lacks-table", picture.lacksTable);
      host.classList.toggle("with-why", picture.one !== null);
      host.classList.toggle("why-alignment", picture.one?.isAligned === true);
    },
    paintObject: object.show,
    destroy() {
      document.documentElement.classList.remove("at-train");
      for (const part of [curves, alignment, evidence, highlighting, slow, tools, script]) part.destroy();
    },
  };
}
