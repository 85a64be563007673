// A prediction over a range of x: a value in each of many cells, NaN where nothing was drawn.

import { clampTo } from "../formula/numbers.js";

const CELLS = 300;

/** A point of a drawing, x and value. @typedef {{x: number, value: number}} Point */

/** Empty cells over a range. @param {[number, number]} range */
export function createCells([start, stop]) {
  const values = new Float64Array(CELLS).fill(NaN);
  const x = Float64Array.from(values, (_, cell) => start + ((cell + 0.5) / CELLS) * (stop - start));
  const cellOf = (/** @type {number} */ at) =>
    clampTo(Math.floor(((at - start) / (stop - start)) * CELLS), 0, CELLS - 1);

  return {
    /** The middles of the cells, ascending. */
    x,
    /** The value of each. */
    values,
    /** The drawn value at an x, NaN where nothing was drawn. @param {number} at */
    at: (at) => values[cellOf(at)],
    clear: () => values.fill(NaN),
    /** A stroke of the pen; what it passes over is replaced. @param {Point} from @param {Point} to */
    stroke(from, to) {
      const [first, last] = [cellOf(from.x), cellOf(to.x)];
      const steps = Math.max(Math.abs(last - first), 1);
      for (let step = 0; step <= steps; step += 1) {
        const share = step / steps;
        values[Math.round(first + share * (last - first))] = from.value + share * (to.value - from.value);
      }
    },
    /** A whole curve. @param {(x: number) => number} curve NaN where it has no value */
    fill: (curve) => values.set(x.map(curve)),
    /** As plain data, which ``restore`` takes. @returns {(number|null)[]} */
    saved: () => Array.from(values, (value) => (Number.isNaN(value) ? null : Number(value.toFixed(3)))),
    /** @param {(number|null)[]} saved */
    restore: (saved) => values.set(saved.map((value) => value ?? NaN).slice(0, CELLS)),
  };
}
