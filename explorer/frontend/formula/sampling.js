/**
 * The numbers by which curves are sampled, which Python has as well: they come with the document.
 *
 * @typedef {object} Sampling
 * @property {number} points of a curve
 * @property {number} readings even steps in a table of exact values
 * @property {number} reference points over which every mean(…) is taken
 * @property {number} nearZero of the width of a range: an even point nearer to 0 is 0
 * @property {number} mostKinks more could not be told apart in a picture
 * @property {number} scan points of the search for kinks
 * @property {number} halvings from a step of the scan down to neighbouring floats
 * @property {number} largest |x| of a range
 * @property {number} narrowest of the larger end: in a range below that float64 has too few numbers for a
 *   curve
 * @property {number} least width of a range
 * @property {Record<string, {pieces: import("./evaluation.js").Tree[]}>} functions of the language, see
 *   explorer/formula/functions.py
 */

let known = /** @type {Sampling} */ (/** @type {unknown} */ (null));

/** Take over what the document says. @param {Sampling} sampling */
export function setSampling(sampling) {
  known = sampling;
}

/** The numbers of the document. */
export function sampling() {
  return known;
}
