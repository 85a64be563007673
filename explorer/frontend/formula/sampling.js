/**
 * The settings for sampling curves, shared with Python through the document.
 *
 * @typedef {object} Sampling
 * @property {number} points of a curve
 * @property {number} readings even steps in a table of exact values
 * @property {number} reference points over which every mean(…) is taken
 * @property {number} nearZero fraction of a range's width: an even point closer to 0 is 0
 * @property {number} mostKinks the most kinks of a curve; more would be indistinguishable on a chart
 * @property {number} scan points of the search for kinks
 * @property {number} halvings bisections from a step of the scan down to neighbouring floats
 * @property {number} largest |x| of a range
 * @property {number} narrowest minimum width of a range relative to its larger |end|: below it float64 has too few
 *   numbers for a curve
 * @property {number} least minimum width of a range
 * @property {Record<string, {pieces: import("./evaluation.js").Tree[]}>} functions of the language, see
 *   explorer/formula/functions.py
 */

let current = /** @type {Sampling} */ (/** @type {unknown} */ (null));

/** Store the settings for sampling curves, as Python has written them into the page. @param {Sampling} sampling */
export function setSampling(sampling) {
  current = sampling;
}

/** Return the settings for sampling curves, as Python has written them into the page. */
export function getSampling() {
  return current;
}
