// Instruments as Python declares them, and a question to one. No page.

import { getCatalogue } from "../../choice/entries.js";

/**
 * An instrument, as Python declares it.
 * @typedef {{key: string, label: string, sentence: string, limits: string, cost: string, window: number,
 *   legend: string[], kind: "recorded"|"visible"|"requested", arguments: {name: string, label: string}[]}} Instrument
 * ``window``: of how many of its last points a drawn one is the mean; ``arguments`` are whole numbers from 0,
 * and ``legend`` has the names of the parts of its picture
 */

/** @param {string} key @returns {Instrument} */
export function instrument(key) {
  return /** @type {Instrument} */ (
    getCatalogue().instruments.find((/** @type {Instrument} */ one) => one.key === key)
  );
}

/**
 * A question to an instrument as the server reads it: its key, with the numbers that are not 0.
 * @param {string} key
 * @param {Object<string, number>} [numbers]
 */
export function questionOf(key, numbers = {}) {
  const chosen = Object.entries(numbers).filter(([, value]) => value);
  const query = new URLSearchParams(chosen.sort().map(([name, value]) => [name, String(value)]));
  return chosen.length ? `${key}?${query}` : key;
}
