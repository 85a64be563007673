// The values that an op that rounds to a number format takes, as ticks of its axis; as explorer/curves/levels.py.

import { roundingIn } from "../../measures/formats.js";
import { formatNumber } from "../../formula/numbers.js";

const LETTERS = 5; // of a label at most, without its sign
const FEWEST = 3; // labels, below which round numbers say more

/**
 * The values of an op of a format in a picture, ascending; none for another op, or too many jumps.
 * @param {Pick<import("./picture.js").Picture, "op"|"curves"> & {curves: {y: ArrayLike<number>}}} picture
 */
export function levelsOf({ op, curves }) {
  if (!op.flat || !roundingIn(op.tree) || curves.kinks.forward === null) return [];
  const single = Float32Array.from(curves.y).filter(Number.isFinite);
  return [...new Set(single)].map((value) => value + 0).sort((one, other) => one - other);
}

/**
 * Of the levels those that have room: labels and marks so far apart; what is short to write comes first.
 * @param {number[]} levels
 * @param {number} label least distance of two labels
 * @param {number} mark that of two marks
 */
export function levelTicks(levels, label, mark) {
  const textOf = (/** @type {number} */ value) => formatNumber(value).replace("-", "−");
  const lengthOf = (/** @type {number} */ value) => formatNumber(Math.abs(value)).length;
  const isShort = (/** @type {number} */ value) => lengthOf(value) <= LETTERS && !textOf(value).includes("e");
  const larger = (/** @type {number} */ one, /** @type {number} */ other) =>
    Math.abs(other) - Math.abs(one) || one - other;
  const short = levels.filter(isShort);
  const room = apart(
    short.sort(
      (one, other) =>
        Number(one !== 0) - Number(other !== 0) || lengthOf(one) - lengthOf(other) || larger(one, other),
    ),
    label,
  );
  const values = room.length < FEWEST ? [] : room;
  return { values, texts: values.map(textOf), marks: apart([...values, ...[...levels].sort(larger)], mark) };
}

/** Each value that is so far from those before it; ascending. @param {number[]} values @param {number} least */
function apart(values, least) {
  /** @type {number[]} */
  const taken = [];
  for (const value of values) if (taken.every((other) => Math.abs(value - other) >= least)) taken.push(value);
  return taken.sort((one, other) => one - other);
}
