// Instruments, which measure the nets during training, and requests to them.

import { getCatalogue } from "../../choice/entries.js";

/**
 * An instrument, as Python declares it.
 * @typedef {{key: string, label: string, sentence: string, limits: string, cost: string, window: number,
 *   kind: "recorded"|"visible"|"requested", arguments: {name: string, label: string}[], panel: Panel|null}} Instrument
 * ``window`` is the number of recorded points that a plotted point averages; ``arguments`` are integers from 0
 * How the section "Why" shows it, as ``Panel`` in Python with the key of the instrument.
 * @typedef {{key: string, rows: number, opens: boolean, layered: boolean, scrolls: boolean,
 *   when: ""|"learns"|"draws", legend: {text: string, swatch: string, numbers: Object<string, number>|null}[],
 *   asks: string, picks: {panel: string, name: string, hint: string}|null}} Panel
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
