/** Float64 numbers: their neighbours, and even grids of them with the same bits as in Python. */

import { sampling } from "./sampling.js";

const number = new Float64Array(1);
const bits = new BigInt64Array(number.buffer);

/** The next float64 above x. @param {number} x */
export function above(x) {
  if (!(x < Infinity)) return x;
  number[0] = x + 0; // no −0
  bits[0] += number[0] < 0 ? -1n : 1n;
  return number[0];
}

/** The next float64 below x. @param {number} x */
export const below = (x) => -above(-x);

/** The distance from |x| to the next float64. @param {number} x */
export const unit = (x) => above(Math.abs(x)) - Math.abs(x);

/**
 * Evenly spaced numbers, both ends included; a number that is 0 but for rounding is 0.
 * @param {number} start
 * @param {number} stop
 * @param {number} points
 * @returns {Float64Array}
 */
export function evenPoints(start, stop, points) {
  const step = (stop - start) / (points - 1);
  const zero = sampling().nearZero * (stop - start);
  const x = Float64Array.from({ length: points }, (_, i) => i * step + start);
  x[points - 1] = stop;
  return x.map((value) => (Math.abs(value) < zero ? 0 : value));
}

/** Ascending numbers above 0, and before them the same with a minus. @param {number[]} upper */
export const mirrored = (upper) =>
  Float64Array.from(
    [...upper]
      .reverse()
      .map((x) => -x)
      .concat(upper),
  );

/**
 * The index of the first of ascending x that is not below a value.
 * @param {ArrayLike<number>} x
 * @param {number} value
 */
export function firstNotBelow(x, value) {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
