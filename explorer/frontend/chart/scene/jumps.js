// Jumps in sampled curves.

import { findFirstAtLeast } from "../../formula/floats.js";

/** @typedef {Float64Array|Float32Array} Floats */

const MAX_RATIO = 1e6; // larger values, relative to the rest of the curve, are at a pole and get no circle
const MAX_NEIGHBOURS = 2; // number of x next to a kink that belong to each of its sides

/**
 * Find the visible jumps of a sampled curve at its kinks. ``gaps`` is 1 after points at which the line is interrupted;
 * ``closed`` and ``open`` are the indices of points with filled circles (values) and open ones (limits).
 * @param {Pick<import("./traces.js").Curves, "x"|"marks">} curves @param {Floats} y @param {number[]} kinks
 */
export function findJumps({ x, marks }, y, kinks) {
  const [low, high] = findReach(y, marks);
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const minJump = low > high ? 0 : 1e-4 * (high - low) + 1e-6 * largest;
  const isNear = (/** @type {number} */ i) =>
    low > high || Math.abs(y[i]) <= MAX_RATIO * Math.max(largest, 1);
  const gaps = new Uint8Array(x.length);
  const closed = [];
  const open = [];
  for (const kink of kinks) {
    const at = findKink(x, kink);
    if (at < 0) continue;
    const [first, last] = findGroup(marks, at);
    let limits = 0;
    for (let i = first; i <= last; i += 1) {
      if (i < last && Math.abs(y[i + 1] - y[i]) > minJump) gaps[i] = 1;
      const limit = gaps[i] || (i > first && gaps[i - 1]);
      limits += limit ? 1 : 0;
      if (limit && i !== at && isNear(i)) open.push(i);
    }
    if (limits && isNear(at)) closed.push(at);
  }
  return { gaps, closed, open };
}

/**
 * Return the index of a kink in the ascending x, or −1 if it was not sampled.
 * @param {Floats} x @param {number} kink
 */
function findKink(x, kink) {
  const value = x instanceof Float32Array ? Math.fround(kink) : kink;
  const at = findFirstAtLeast(x, value);
  return x[at] === value ? at : -1;
}

/**
 * Return the first and last index of the points at a kink: its x and the floats next to it.
 * @param {ArrayLike<number>} marks the kind of each x, see ``Curves`` @param {number} at index of the kink
 */
function findGroup(marks, at) {
  let first = at;
  let last = at;
  while (marks[first - 1] === 2 && at - first < MAX_NEIGHBOURS) first -= 1;
  while (marks[last + 1] === 2 && last - at < MAX_NEIGHBOURS) last += 1;
  return [first, last];
}

/**
 * Return the range of a curve's values away from its kinks, because values at a pole may be huge. Without values, it is
 * [Infinity, −Infinity].
 * @param {Floats} y @param {ArrayLike<number>} marks
 */
function findReach(y, marks) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < y.length; i += 1) {
    if (marks[i] || !Number.isFinite(y[i])) continue;
    low = Math.min(low, y[i]);
    high = Math.max(high, y[i]);
  }
  return [low, high];
}
