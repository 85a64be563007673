// The values of an op that rounds to a number format, as ticks of its axis; as in explorer/curves/levels.py.

import { findRounding } from "../../measures/formats.js";
import { formatNumber } from "../../formula/numbers.js";

const MAX_LETTERS = 5; // maximum length of a label, without its sign
const MIN_LABELS = 3; // with fewer labels, round numbers are more informative

/**
 * Return the values of an op of a number format, ascending; empty for other ops and too many jumps.
 * @param {Pick<import("./picture.js").Picture, "op"|"curves"> & {curves: {y: ArrayLike<number>}}} picture
 */
export function levelsOf({ op, curves }) {
  if (!op.flat || !findRounding(op.tree) || curves.kinks.forward === null) return [];
  const single = Float32Array.from(curves.y).filter(Number.isFinite);
  return [...new Set(single)].map((value) => value + 0).sort((one, other) => one - other);
}

/**
 * Choose as many levels as fit, with minimum distances of labels and marks; short labels come first.
 * @param {number[]} levels
 * @param {number} label minimum distance of two labels
 * @param {number} mark minimum distance of two marks
 */
export function chooseLevelTicks(levels, label, mark) {
  const textOf = (/** @type {number} */ value) => formatNumber(value).replace("-", "−");
  const lengthOf = (/** @type {number} */ value) => formatNumber(Math.abs(value)).length;
  const isShort = (/** @type {number} */ value) =>
    lengthOf(value) <= MAX_LETTERS && !textOf(value).includes("e");
  const compareSize = (/** @type {number} */ one, /** @type {number} */ other) =>
    Math.abs(other) - Math.abs(one) || one - other;
  const short = levels.filter(isShort);
  const room = keepSeparate(
    short.sort(
      (one, other) =>
        Number(one !== 0) - Number(other !== 0) || lengthOf(one) - lengthOf(other) || compareSize(one, other),
    ),
    label,
  );
  const values = room.length < MIN_LABELS ? [] : room;
  return {
    values,
    texts: values.map(textOf),
    marks: keepSeparate([...values, ...[...levels].sort(compareSize)], mark),
  };
}

/** Drop values close to earlier ones; sort the rest. @param {number[]} values @param {number} minDistance */
function keepSeparate(values, minDistance) {
  /** @type {number[]} */
  const separate = [];
  for (const value of values)
    if (separate.every((other) => Math.abs(value - other) >= minDistance)) separate.push(value);
  return separate.sort((one, other) => one - other);
}
