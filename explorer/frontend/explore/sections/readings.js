// Selection of a few points of the curves for a table: even steps in x, and the points around each kink.

import { KINK } from "../../formula/curves.js";
import { makeEvenPoints, findNearestIndex } from "../../formula/floats.js";
import { getSampling } from "../../formula/sampling.js";

/**
 * Return the indices of the points to tabulate, in ascending order.
 * @param {{x: ArrayLike<number>, marks: ArrayLike<number>}} curves ``marks``: the kind of each x
 * @param {[number, number]} range
 */
export function findReadingIndices({ x, marks }, [start, stop]) {
  const indices = new Set(
    [...makeEvenPoints(start, stop, getSampling().readings)].map((step) => findNearestIndex(x, step)),
  );
  for (let index = 0; index < x.length; index++)
    if (marks[index] === KINK) [index - 1, index, index + 1].forEach((near) => indices.add(near));
  return [...indices].filter((index) => index >= 0 && index < x.length).sort((one, other) => one - other);
}
