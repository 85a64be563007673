// Axis ticks at the values of a number format such as int4, for an op that rounds to one. Python chooses the same ticks
// in explorer/curves/levels.py.

import { findRounding } from "../../measures/formats.js";
import { formatNumber, writeMinus } from "../../formula/numbers.js";

const MAX_LETTERS = 5; // maximum length of a tick label without its sign
const MIN_LABELS = 3; // if fewer labels fit, ticks at round numbers are used instead

/**
 * Return all values of the number format to which an op rounds, in ascending order. Returns [] for other ops, or if
 * there are too many.
 * @param {Pick<import("./picture.js").Picture, "op"|"curves"> & {curves: {y: ArrayLike<number>}}} picture
 */
export function findFormatLevels({ op, curves }) {
  if (!op.flat || !findRounding(op.tree) || curves.kinks.forward === null) return [];
  const single = Float32Array.from(curves.y).filter(Number.isFinite);
  return [...new Set(single)].map((value) => value + 0).sort((one, other) => one - other);
}

/**
 * Choose as many values of a number format as fit on an axis, preferring short labels. ``marks`` have a tick mark.
 * @param {number[]} levels the values @param {number} label minimum distance of labels
 * @param {number} mark minimum distance of tick marks
 */
export function chooseLevelTicks(levels, label, mark) {
  const textOf = (/** @type {number} */ value) => writeMinus(formatNumber(value));
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

/** @param {number[]} values @param {number} minDistance */
function keepSeparate(values, minDistance) {
  /** @type {number[]} */
  const separate = [];
  for (const value of values)
    if (separate.every((other) => Math.abs(value - other) >= minDistance)) separate.push(value);
  return separate.sort((one, other) => one - other);
}
