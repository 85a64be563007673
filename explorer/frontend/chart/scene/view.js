// The part of x that is in view: moved, zoomed, and held within the largest range.

import { roundToUnit } from "../../formula/numbers.js";
import { getSampling } from "../../formula/sampling.js";

/** @import { Range } from "./axes.js" */

/**
 * The view with the point ``x`` kept in its place and the rest drawn ``factor`` times as wide a range.
 * @param {Range} view
 * @param {number} x
 * @param {number} factor
 */
export function zoomed([start, stop], x, factor) {
  const { least, narrowest: share } = getSampling();
  const narrowest = Math.max(least, share * Math.max(Math.abs(start), Math.abs(stop)));
  const width = stop - start;
  const scale = Math.max(factor, Math.min(narrowest / width, 1));
  return bounded(x + (start - x) * scale, x + (stop - x) * scale);
}

/** The view moved by a part of its width. @param {Range} view @param {number} share positive to the right */
export function moved([start, stop], share) {
  const width = stop - start;
  const { largest } = getSampling();
  const by = Math.min(Math.max(share * width, -largest - start), largest - stop);
  return bounded(start + by, stop + by);
}

/**
 * The view that keeps two points under two fingers.
 * @param {Range} view when the fingers came down
 * @param {[number, number]} from where they came down, as parts of the width
 * @param {[number, number]} to where they are now
 */
export function pinched(view, from, to) {
  const held = view[0] + ((from[0] + from[1]) / 2) * (view[1] - view[0]);
  const factor = Math.abs(from[1] - from[0]) / Math.max(Math.abs(to[1] - to[0]), 0.02);
  const [start, stop] = zoomed(view, held, factor);
  const begin = held - ((to[0] + to[1]) / 2) * (stop - start);
  return bounded(begin, begin + stop - start);
}

/**
 * @param {number} start
 * @param {number} stop
 * @returns {Range} within the limits, without digits that nobody sees
 */
function bounded(start, stop) {
  const width = stop - start;
  const { largest } = getSampling();
  const [low, high] = [Math.max(start, -largest), Math.min(stop, largest)];
  return [roundToUnit(low, width / 1e4), roundToUnit(high, width / 1e4)];
}
