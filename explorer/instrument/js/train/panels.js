// The panels of the area "Why", in their order.

import { catalogue } from "../choice/entries.js";
import { causes } from "./causes.js";
import { inputs } from "./inputs.js";
import { mistakes } from "./mistakes.js";
import { norms } from "./norms.js";
import { parameters } from "./parameters.js";
import { raster } from "./raster.js";
import { regions } from "./regions.js";
import { OVER } from "./status.js";
import { taskOf } from "./tasks.js";
import { weights } from "./weights.js";

/** @typedef {import("./panel.js").Panel} Panel */
/**
 * An instrument, as Python declares it.
 * @typedef {{key: string, label: string, sentence: string, limits: string, cost: string, window: number,
 *   kind: "recorded"|"shown"|"requested", arguments: {name: string, label: string}[]}} Instrument
 * ``window``: of how many of its last points a drawn one is the mean; ``arguments`` are whole numbers from 0
 */

/** @type {Panel[]} */
const PANELS = [regions, raster, parameters, weights, mistakes, inputs, causes, norms];

/** @param {string} key @returns {Instrument} */
export function instrument(key) {
  return /** @type {Instrument} */ (
    catalogue().instruments.find((/** @type {Instrument} */ one) => one.key === key)
  );
}

/** The panels that say something of what is chosen. @param {import("../choice/choice.js").Choice} choice */
export function panelsOf(choice) {
  const learns = Boolean(choice.training.learn);
  return PANELS.filter(({ key, suits }) => instrument(key) && suits(taskOf(choice), learns));
}

/**
 * Those of them that are open: as somebody left them, else as they are at first.
 * @param {import("../choice/choice.js").Choice} choice
 * @param {Object<string, boolean>} left
 */
export function openPanels(choice, left) {
  return panelsOf(choice).filter(({ key, opens }) => left[key] ?? opens);
}

/**
 * What the stream is asked for: what is open, and all there is of a run that is over, which may be forgotten
 * soon.
 * @param {import("./state.js").State} state
 */
export function wantedOf({ choice, panels, numbers, view }) {
  const isOver = OVER.includes(view.status.state);
  const wanted = isOver ? panelsOf(choice) : openPanels(choice, panels);
  return ["alignment", ...wanted.map(({ key }) => questionOf(key, numbers[key]))];
}

/**
 * A question to an instrument as the server reads it: its key, with the numbers that are not 0.
 * @param {string} key
 * @param {Object<string, number>} [numbers]
 */
export function questionOf(key, numbers = {}) {
  const told = Object.entries(numbers).filter(([, value]) => value);
  const query = new URLSearchParams(told.sort().map(([name, value]) => [name, String(value)]));
  return told.length ? `${key}?${query}` : key;
}
