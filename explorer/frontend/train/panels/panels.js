// The panels of the section "Why". Each is a module of this folder that is named after an instrument.

import { isStochastic } from "../../choice/choice.js";
import { getCatalogue } from "../../choice/entries.js";
import { formatQuestion } from "../state/instruments.js";
import { OVER } from "../state/status.js";
import { getSelectedTask } from "../state/tasks.js";

/** @import { Panel } from "./panel.js" */

const OBJECT_INSTRUMENTS = ["way", "net", "reads"]; // always requested while the net is drawn
const BASIS = ["causes", "inputs", "regions"]; // also requested while the net is drawn, if they apply
let panels = /** @type {Panel[]} */ ([]);

/** Load the modules of all panels that are listed in the HTML document. */
export async function loadPanels() {
  const load = async (/** @type {string} */ key) => ({ ...(await import(`./${key}.js`)).panel, key });
  panels = (await Promise.all(getCatalogue().panels.map(load))).sort((one, other) => one.order - other.order);
}

/** Return the panels that apply to the selected task. @param {import("../../choice/choice.js").Choice} choice */
export function getSuitablePanels(choice) {
  const learns = Boolean(choice.training.learn);
  const draws = isStochastic(choice);
  return panels.filter(({ suits }) => suits(getSelectedTask(choice), learns, draws));
}

/**
 * Return the panels that are open: those that the user has left open, and those that are open by default.
 * @param {import("../../choice/choice.js").Choice} choice
 * @param {Object<string, boolean>} left
 */
export function openPanels(choice, left) {
  return getSuitablePanels(choice).filter(({ key, opens }) => left[key] ?? opens);
}

/**
 * List the measurements that the server should include in its events. They are those of open panels, or of all panels
 * after the run has ended, because the server may soon delete the run.
 * @param {import("../state/state.js").State} state
 */
export function listRequests({ choice, panels: left, numbers, view, why, drawn, evidence = true }) {
  const isOver = OVER.includes(view.status.state);
  const wanted = isOver ? getSuitablePanels(choice) : evidence ? openPanels(choice, left) : [];
  const rulePanel = why ? view.status.lines[why]?.panel : "";
  const isRequested = (/** @type {Panel} */ panel) =>
    wanted.includes(panel) || panel.key === rulePanel || (drawn && BASIS.includes(panel.key));
  const requested = getSuitablePanels(choice).filter(isRequested);
  return [
    "alignment",
    ...(drawn ? OBJECT_INSTRUMENTS : []),
    ...requested.map(({ key }) => formatQuestion(key, numbers[key])),
  ];
}
