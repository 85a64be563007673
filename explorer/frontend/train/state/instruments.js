// Instruments, which measure the nets during training, and requests to them.

import { getCatalogue } from "../../choice/entries.js";

/**
 * An instrument, as Python declares it.
 * @typedef {{key: string, label: string, sentence: string, limits: string, cost: string, window: number,
 *   legend: string[], kind: "recorded"|"visible"|"requested", arguments: {name: string, label: string}[]}} Instrument
 * ``window`` is the number of recorded points that a plotted point averages; ``arguments`` are integers from 0,
 * and ``legend`` names the parts of its picture
 */

/** Return the instrument with the given key. @param {string} key @returns {Instrument} */
export function findInstrument(key) {
  return /** @type {Instrument} */ (
    getCatalogue().instruments.find((/** @type {Instrument} */ one) => one.key === key)
  );
}

/**
 * Format a request to an instrument as the instrument's key and its nonzero arguments.
 * @param {string} key
 * @param {Object<string, number>} [numbers]
 */
export function formatQuestion(key, numbers = {}) {
  const nonzero = Object.entries(numbers).filter(([, value]) => value);
  const query = new URLSearchParams(nonzero.sort().map(([name, value]) => [name, String(value)]));
  return nonzero.length ? `${key}?${query}` : key;
}
