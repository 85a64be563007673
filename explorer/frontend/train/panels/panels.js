// The panels of the area "Why" in order: the modules of this folder that are named like an instrument.

import { isStochastic } from "../../choice/choice.js";
import { getCatalogue } from "../../choice/entries.js";
import { questionOf } from "../state/instruments.js";
import { OVER } from "../state/status.js";
import { taskOf } from "../state/tasks.js";

/** @import { Panel } from "./panel.js" */

const OBJECT_INSTRUMENTS = ["way", "net", "reads"]; // always requested if the net is shown: net and lanes display them
const BASIS = ["causes", "inputs"]; // also requested if the net is shown: the basis of each rule's sentence
let panels = /** @type {Panel[]} */ ([]);

/** Load the panels that the document names. */
export async function loadPanels() {
  const load = async (/** @type {string} */ key) => ({ ...(await import(`./${key}.js`)).panel, key });
  panels = (await Promise.all(getCatalogue().panels.map(load))).sort((one, other) => one.order - other.order);
}

/** Return the panels that apply to a choice. @param {import("../../choice/choice.js").Choice} choice */
export function panelsOf(choice) {
  const learns = Boolean(choice.training.learn);
  const draws = isStochastic(choice);
  return panels.filter(({ suits }) => suits(taskOf(choice), learns, draws));
}

/**
 * Return the open panels of a choice: as the visitor left them, initially by their defaults.
 * @param {import("../../choice/choice.js").Choice} choice
 * @param {Object<string, boolean>} left
 */
export function openPanels(choice, left) {
  return panelsOf(choice).filter(({ key, opens }) => left[key] ?? opens);
}

/**
 * Return the questions for the stream of events: those of open panels, or of all panels once the run has ended.
 *
 * The server may soon forget a run that has ended.
 * @param {import("../state/state.js").State} state
 */
export function listRequests({ choice, panels: left, numbers, view, why, drawn, evidence = true }) {
  const isOver = OVER.includes(view.status.state);
  const wanted = isOver ? panelsOf(choice) : evidence ? openPanels(choice, left) : [];
  const rulePanel = why ? view.status.lines[why]?.panel : "";
  const isRequested = (/** @type {Panel} */ panel) =>
    wanted.includes(panel) || panel.key === rulePanel || (drawn && BASIS.includes(panel.key));
  const requested = panelsOf(choice).filter(isRequested);
  return [
    "alignment",
    ...(drawn ? OBJECT_INSTRUMENTS : []),
    ...requested.map(({ key }) => questionOf(key, numbers[key])),
  ];
}
