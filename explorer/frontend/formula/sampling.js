/**
 * Settings of the sampling of curves. Python writes them into the page, so that both sides sample alike.
 * @typedef {object} Sampling
 * @property {number} points number of even x of a curve
 * @property {number} readings number of steps in a table of exact values
 * @property {number} reference number of x over which mean(…) is computed
 * @property {number} nearZero fraction of the range; an even x nearer to 0 becomes 0
 * @property {number} mostKinks maximum number of kinks of a curve; more would be indistinguishable on a chart
 * @property {number} scan number of x in a search for kinks
 * @property {number} halvings number of bisections from one scan step down to neighbouring floats
 * @property {number} largest maximum |x| of a range
 * @property {number} narrowest minimum width of a range as a fraction of its larger |end|; a narrower one has too few
 *   floats for a curve
 * @property {number} least minimum width of a range
 * @property {Record<string, {pieces: import("./evaluation.js").Tree[]}>} functions breakpoints of the formula
 *   language's functions, see explorer/formula/functions.py
 */

let current = /** @type {Sampling} */ (/** @type {unknown} */ (null));

/** Store the sampling settings that Python has written into the page. @param {Sampling} sampling */
export function setSampling(sampling) {
  current = sampling;
}

/** Return the sampling settings that Python has written into the page. Call it after ``setSampling``. */
export function getSampling() {
  return current;
}
