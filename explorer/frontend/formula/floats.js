/** Float64 numbers: neighbours, and even grids with the same bits as in Python. */

import { getSampling } from "./sampling.js";

const number = new Float64Array(1);
const bits = new BigInt64Array(number.buffer);

/** Return the smallest float64 greater than x. Infinity and NaN are returned unchanged. @param {number} x */
export function getNextFloat(x) {
  if (!(x < Infinity)) return x;
  number[0] = x + 0; // + 0 turns −0 into 0
  bits[0] += number[0] < 0 ? -1n : 1n;
  return number[0];
}

/** Return the largest float64 less than x. −Infinity and NaN are returned unchanged. @param {number} x */
export const getPreviousFloat = (x) => -getNextFloat(-x);

/** Return the distance from |x| to the next larger float64. @param {number} x */
export const getFloatSpacing = (x) => getNextFloat(Math.abs(x)) - Math.abs(x);

/**
 * Return evenly spaced numbers that include both ends. A number that is 0 up to rounding is exactly 0.
 * @param {number} start @param {number} stop @param {number} points number of them, at least 2 @returns {Float64Array}
 */
export function makeEvenPoints(start, stop, points) {
  const step = (stop - start) / (points - 1);
  const zero = getSampling().nearZero * (stop - start);
  const x = Float64Array.from({ length: points }, (_, i) => i * step + start);
  x[points - 1] = stop;
  return x.map((value) => (Math.abs(value) < zero ? 0 : value));
}

/** Return the negatives of ascending positive numbers, followed by the numbers themselves. @param {number[]} upper */
export const mirrorAtZero = (upper) =>
  Float64Array.from(
    [...upper]
      .reverse()
      .map((x) => -x)
      .concat(upper),
  );

/**
 * Return the index of the first element of an ascending array that is at least ``value``. If there is none, return the
 * length of the array.
 * @param {ArrayLike<number>} x @param {number} value
 */
export function findFirstAtLeast(x, value) {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Return the index of the element of an ascending array that is nearest to ``value``.
 * @param {ArrayLike<number>} x @param {number} value
 */
export function findNearestIndex(x, value) {
  const after = Math.min(findFirstAtLeast(x, value), x.length - 1);
  return after > 0 && value - x[after - 1] <= x[after] - value ? after - 1 : after;
}
