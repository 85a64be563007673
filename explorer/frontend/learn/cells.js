// A curve that a reader draws over a range of x, stored as one value per cell of equal width.

import { clampTo } from "../formula/numbers.js";

const CELLS = 300;

/** A point of a drawing, x and value. @typedef {{x: number, value: number}} Point */

/** Create an empty hand-drawn curve, with cells of equal width over a range of x. @param {[number, number]} range */
export function createCells([start, stop]) {
  const values = new Float64Array(CELLS).fill(NaN);
  const x = Float64Array.from(values, (_, cell) => start + ((cell + 0.5) / CELLS) * (stop - start));
  const getCellIndex = (/** @type {number} */ at) =>
    clampTo(Math.floor(((at - start) / (stop - start)) * CELLS), 0, CELLS - 1);

  return {
    /** The x value at the centre of each cell, in ascending order. */
    x,
    /** The value that is drawn in each cell, or NaN for an empty cell. */
    values,
    /** Return the drawn value at an x, or NaN if nothing is drawn there. @param {number} at */
    at: (at) => values[getCellIndex(at)],
    clear: () => values.fill(NaN),
    /**
     * Draw a straight line between two points, replacing the values in between.
     * @param {Point} from @param {Point} to
     */
    drawLine(from, to) {
      const [first, last] = [getCellIndex(from.x), getCellIndex(to.x)];
      const steps = Math.max(Math.abs(last - first), 1);
      for (let step = 0; step <= steps; step += 1) {
        const share = step / steps;
        values[Math.round(first + share * (last - first))] = from.value + share * (to.value - from.value);
      }
    },
    /**
     * Replace all drawn values by those of a function of x.
     * @param {(x: number) => number} curve NaN outside its domain
     */
    fill: (curve) => values.set(x.map(curve)),
    /** Return the drawn values as JSON data, with null for empty cells. @returns {(number|null)[]} */
    saved: () => Array.from(values, (value) => (Number.isNaN(value) ? null : Number(value.toFixed(3)))),
    /** Replace the drawn values with saved ones. @param {(number|null)[]} saved */
    restore: (saved) => values.set(saved.map((value) => value ?? NaN).slice(0, CELLS)),
  };
}
