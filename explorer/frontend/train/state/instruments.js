// Instruments: measurements of the nets during training, and requests for them.

import { getCatalogue } from "../../choice/entries.js";

/**
 * An instrument, as declared by Python.
 * @typedef {{key: string, label: string, sentence: string, limits: string, cost: string, window: number, kind:
 *   "recorded"|"visible"|"requested", arguments: {name: string, label: string}[], panel: Panel|null}} Instrument
 *   ``window``: the number of recorded points averaged in a plotted one; ``arguments``: integers from 0
 * @typedef {{key: string, rows: number, opens: boolean, layered: boolean, scrolls: boolean, when: ""|"learns"|"draws",
 *   legend: {text: string, swatch: string, numbers: Object<string, number>|null}[], asks: string, picks: {panel:
 *   string, name: string, hint: string}|null}} Panel how the area "Why" shows an instrument, as ``Panel`` in Python;
 *   ``key``: the instrument's key
 */

/** Return the instrument with a given key. @param {string} key @returns {Instrument} */
export function findInstrument(key) {
  return /** @type {Instrument} */ (
    getCatalogue().instruments.find((/** @type {Instrument} */ one) => one.key === key)
  );
}

/**
 * Format a request for a measurement: the key of an instrument, with its nonzero arguments as a query.
 * @param {string} key @param {Object<string, number>} [numbers] the arguments
 */
export function formatQuestion(key, numbers = {}) {
  const nonzero = Object.entries(numbers).filter(([, value]) => value);
  const query = new URLSearchParams(nonzero.sort().map(([name, value]) => [name, String(value)]));
  return nonzero.length ? `${key}?${query}` : key;
}
