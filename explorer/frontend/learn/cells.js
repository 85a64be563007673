// A curve that the reader draws over a range of x: one height for each of many cells of equal width.

import { clampTo } from "../formula/numbers.js";

const CELLS = 300;

/** A point of a drawn curve. @typedef {{x: number, value: number}} Point */

/** Create an empty drawn curve over a range of x, with ``CELLS`` heights. @param {[number, number]} range */
export function createCells([start, stop]) {
  const values = new Float64Array(CELLS).fill(NaN);
  const x = Float64Array.from(values, (_, cell) => start + ((cell + 0.5) / CELLS) * (stop - start));
  const getCellIndex = (/** @type {number} */ at) =>
    clampTo(Math.floor(((at - start) / (stop - start)) * CELLS), 0, CELLS - 1);

  return {
    /** The x at the centre of each cell, in ascending order. */
    x,
    /** The height drawn in each cell, NaN if none. */
    values,
    /** Return the height drawn at an x. It is NaN if nothing is drawn there. @param {number} at */
    at: (at) => values[getCellIndex(at)],
    clear: () => values.fill(NaN),
    /** Draw a straight line between two points, over anything drawn before. @param {Point} from @param {Point} to */
    drawLine(from, to) {
      const [first, last] = [getCellIndex(from.x), getCellIndex(to.x)];
      const steps = Math.max(Math.abs(last - first), 1);
      for (let step = 0; step <= steps; step += 1) {
        const share = step / steps;
        values[Math.round(first + share * (last - first))] = from.value + share * (to.value - from.value);
      }
    },
    /** @param {(x: number) => number} curve returns a height, NaN outside its domain */
    fill: (curve) => values.set(x.map(curve)),
    /** Return the heights as JSON data with three decimals, null for empty cells. @returns {(number|null)[]} */
    saved: () => Array.from(values, (value) => (Number.isNaN(value) ? null : Number(value.toFixed(3)))),
    /** @param {(number|null)[]} saved */
    restore: (saved) => values.set(saved.map((value) => value ?? NaN).slice(0, CELLS)),
  };
}
