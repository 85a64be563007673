// Instruments as Python declares them, and questions to them.

import { getCatalogue } from "../../choice/entries.js";

/**
 * An instrument, as Python declares it.
 * @typedef {{key: string, label: string, sentence: string, limits: string, cost: string, window: number,
 *   legend: string[], kind: "recorded"|"visible"|"requested", arguments: {name: string, label: string}[]}} Instrument
 * ``window`` is the number of recorded points that a plotted point averages; ``arguments`` are integers from 0,
 * and ``legend`` names the parts of its picture
 */

/** Return the instrument with a key. @param {string} key @returns {Instrument} */
export function findInstrument(key) {
  return /** @type {Instrument} */ (
    getCatalogue().instruments.find((/** @type {Instrument} */ one) => one.key === key)
  );
}

/**
 * Return a question to an instrument as the server reads it: its key, and the arguments other than 0.
 * @param {string} key
 * @param {Object<string, number>} [numbers]
 */
export function questionOf(key, numbers = {}) {
  const nonzero = Object.entries(numbers).filter(([, value]) => value);
  const query = new URLSearchParams(nonzero.sort().map(([name, value]) => [name, String(value)]));
  return nonzero.length ? `${key}?${query}` : key;
}
