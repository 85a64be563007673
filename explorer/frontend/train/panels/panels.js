// The panels of the area "Why", in their order: the modules of this folder that have the name of an instrument.

import { isStochastic } from "../../choice/choice.js";
import { getCatalogue } from "../../choice/entries.js";
import { questionOf } from "../state/instruments.js";
import { OVER } from "../state/status.js";
import { taskOf } from "../state/tasks.js";

/** @import { Panel } from "./panel.js" */

const DRAWN = ["way", "net", "reads"]; // whatever is open: net and lanes are made of them
const BASIS = ["causes", "inputs"]; // of each rule's line, beside these
let panels = /** @type {Panel[]} */ ([]);

/** Load the panels that the document names. */
export async function loadPanels() {
  const load = async (/** @type {string} */ key) => ({ ...(await import(`./${key}.js`)).panel, key });
  panels = (await Promise.all(getCatalogue().panels.map(load))).sort((one, other) => one.order - other.order);
}

/** The panels that say something of what is chosen. @param {import("../../choice/choice.js").Choice} choice */
export function panelsOf(choice) {
  const learns = Boolean(choice.training.learn);
  const draws = isStochastic(choice);
  return panels.filter(({ suits }) => suits(taskOf(choice), learns, draws));
}

/**
 * The open ones among them: as the visitor left them, else as they are at first.
 * @param {import("../../choice/choice.js").Choice} choice
 * @param {Object<string, boolean>} left
 */
export function openPanels(choice, left) {
  return panelsOf(choice).filter(({ key, opens }) => left[key] ?? opens);
}

/**
 * The questions to ask the stream: those of open panels, and all of a run that is over, which may be forgotten
 * soon.
 * @param {import("../state/state.js").State} state
 */
export function wantedOf({ choice, panels: left, numbers, view, why, drawn, evidence = true }) {
  const isOver = OVER.includes(view.status.state);
  const wanted = isOver ? panelsOf(choice) : evidence ? openPanels(choice, left) : [];
  const one = why ? view.status.lines[why]?.panel : "";
  const isAsked = (/** @type {Panel} */ panel) =>
    wanted.includes(panel) || panel.key === one || (drawn && BASIS.includes(panel.key));
  const asked = panelsOf(choice).filter(isAsked);
  return ["alignment", ...(drawn ? DRAWN : []), ...asked.map(({ key }) => questionOf(key, numbers[key]))];
}
