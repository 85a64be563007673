// The panels of the area "Why", in their order.

import { questionOf } from "../state/instruments.js";
import { instrument } from "../state/instruments.js";
import { causes } from "./causes.js";
import { inputs } from "./inputs.js";
import { mistakes } from "./mistakes.js";
import { norms } from "./norms.js";
import { parameters } from "./parameters.js";
import { raster } from "./raster.js";
import { regions } from "./regions.js";
import { OVER } from "../state/status.js";
import { taskOf } from "../state/tasks.js";
import { weights } from "./weights.js";

/** @typedef {import("./panel.js").Panel} Panel */

/** @type {Panel[]} */
const PANELS = [regions, raster, parameters, weights, mistakes, inputs, causes, norms];

/** The panels that say something of what is chosen. @param {import("../../choice/choice.js").Choice} choice */
export function panelsOf(choice) {
  const learns = Boolean(choice.training.learn);
  return PANELS.filter(({ key, suits }) => instrument(key) && suits(taskOf(choice), learns));
}

/**
 * Those of them that are open: as somebody left them, else as they are at first.
 * @param {import("../../choice/choice.js").Choice} choice
 * @param {Object<string, boolean>} left
 */
export function openPanels(choice, left) {
  return panelsOf(choice).filter(({ key, opens }) => left[key] ?? opens);
}

/**
 * What the stream is asked for: what is open, and all there is of a run that is over, which may be forgotten
 * soon.
 * @param {import("../state/state.js").State} state
 */
export function wantedOf({ choice, panels, numbers, view }) {
  const isOver = OVER.includes(view.status.state);
  const wanted = isOver ? panelsOf(choice) : openPanels(choice, panels);
  return ["alignment", ...wanted.map(({ key }) => questionOf(key, numbers[key]))];
}
