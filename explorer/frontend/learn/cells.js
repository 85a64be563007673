// A drawn prediction over a range of x: one value per cell, NaN if the cell is empty.

import { clampTo } from "../formula/numbers.js";

const CELLS = 300;

/** A point of a drawing, x and value. @typedef {{x: number, value: number}} Point */

/** Create empty cells over a range. @param {[number, number]} range */
export function createCells([start, stop]) {
  const values = new Float64Array(CELLS).fill(NaN);
  const x = Float64Array.from(values, (_, cell) => start + ((cell + 0.5) / CELLS) * (stop - start));
  const cellOf = (/** @type {number} */ at) =>
    clampTo(Math.floor(((at - start) / (stop - start)) * CELLS), 0, CELLS - 1);

  return {
    /** The centers of the cells, ascending. */
    x,
    /** The values of the cells. */
    values,
    /** Return the drawn value at an x, NaN if its cell is empty. @param {number} at */
    at: (at) => values[cellOf(at)],
    clear: () => values.fill(NaN),
    /** Draw a line between two points; it replaces the cells in between. @param {Point} from @param {Point} to */
    drawLine(from, to) {
      const [first, last] = [cellOf(from.x), cellOf(to.x)];
      const steps = Math.max(Math.abs(last - first), 1);
      for (let step = 0; step <= steps; step += 1) {
        const share = step / steps;
        values[Math.round(first + share * (last - first))] = from.value + share * (to.value - from.value);
      }
    },
    /** Set all cells to the values of a curve. @param {(x: number) => number} curve NaN outside its domain */
    fill: (curve) => values.set(x.map(curve)),
    /** Return the values as plain data for ``restore``. @returns {(number|null)[]} */
    saved: () => Array.from(values, (value) => (Number.isNaN(value) ? null : Number(value.toFixed(3)))),
    /** Restore the values of saved cells. @param {(number|null)[]} saved */
    restore: (saved) => values.set(saved.map((value) => value ?? NaN).slice(0, CELLS)),
  };
}
