// The jumps of sampled curves.

import { findFirstAtLeast } from "../../formula/floats.js";

/** @typedef {Float64Array|Float32Array} Floats */

const FARTHEST = 1e6; // times as large as the curve away from kinks: the limit of a pole, without a circle
const BESIDE = 2; // points at most on each side of a kink

/**
 * The jumps of a curve: between neighbours that belong to one kink, by more than can be overlooked.
 * @param {Pick<import("./traces.js").Curves, "x"|"marks">} curves
 * @param {Floats} y
 * @param {number[]} kinks
 */
export function jumps({ x, marks }, y, kinks) {
  const [low, high] = reach(y, marks);
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const smallest = low > high ? 0 : 1e-4 * (high - low) + 1e-6 * largest;
  const isNear = (/** @type {number} */ i) => low > high || Math.abs(y[i]) <= FARTHEST * Math.max(largest, 1);
  const gaps = new Uint8Array(x.length);
  const closed = [];
  const open = [];
  for (const kink of kinks) {
    const at = positionOf(x, kink);
    if (at < 0) continue;
    const [first, last] = group(marks, at);
    let limits = 0;
    for (let i = first; i <= last; i += 1) {
      if (i < last && Math.abs(y[i + 1] - y[i]) > smallest) gaps[i] = 1;
      const limit = gaps[i] || (i > first && gaps[i - 1]);
      limits += limit ? 1 : 0;
      if (limit && i !== at && isNear(i)) open.push(i);
    }
    if (limits && isNear(at)) closed.push(at);
  }
  return { gaps, closed, open };
}

/**
 * The index of a kink among ascending x, −1 where it was not sampled.
 * @param {Floats} x
 * @param {number} kink
 */
function positionOf(x, kink) {
  const value = x instanceof Float32Array ? Math.fround(kink) : kink;
  const at = findFirstAtLeast(x, value);
  return x[at] === value ? at : -1;
}

/**
 * The first and last of the points that belong to a kink.
 * @param {ArrayLike<number>} marks
 * @param {number} at the kink's own
 */
function group(marks, at) {
  let first = at;
  let last = at;
  while (marks[first - 1] === 2 && at - first < BESIDE) first -= 1;
  while (marks[last + 1] === 2 && last - at < BESIDE) last += 1;
  return [first, last];
}

/**
 * The least and the largest value away from kinks, by which jumps are seen: beside a pole it may be huge.
 * @param {Floats} y
 * @param {ArrayLike<number>} marks
 */
function reach(y, marks) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < y.length; i += 1) {
    if (marks[i] || !Number.isFinite(y[i])) continue;
    low = Math.min(low, y[i]);
    high = Math.max(high, y[i]);
  }
  return [low, high];
}
