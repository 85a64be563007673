// The visible range of x: moved, zoomed, and limited to the largest range.

import { roundToUnit } from "../../formula/numbers.js";
import { getSampling } from "../../formula/sampling.js";

/** @import { Range } from "./axes.js" */

/**
 * Return a view ``factor`` times as wide, in which the point ``x`` keeps its position.
 * @param {Range} view
 * @param {number} x
 * @param {number} factor
 */
export function zoomView([start, stop], x, factor) {
  const { least, narrowest: share } = getSampling();
  const narrowest = Math.max(least, share * Math.max(Math.abs(start), Math.abs(stop)));
  const width = stop - start;
  const scale = Math.max(factor, Math.min(narrowest / width, 1));
  return boundView(x + (start - x) * scale, x + (stop - x) * scale);
}

/** Return a view moved by a share of its width. @param {Range} view @param {number} share positive to the right */
export function moveView([start, stop], share) {
  const width = stop - start;
  const { largest } = getSampling();
  const by = Math.min(Math.max(share * width, -largest - start), largest - stop);
  return boundView(start + by, stop + by);
}

/**
 * Return the view that keeps two points under two fingers.
 * @param {Range} view when the fingers came down
 * @param {[number, number]} from initial positions, as shares of the width
 * @param {[number, number]} to current positions
 */
export function pinchView(view, from, to) {
  const fixedX = view[0] + ((from[0] + from[1]) / 2) * (view[1] - view[0]);
  const factor = Math.abs(from[1] - from[0]) / Math.max(Math.abs(to[1] - to[0]), 0.02);
  const [start, stop] = zoomView(view, fixedX, factor);
  const begin = fixedX - ((to[0] + to[1]) / 2) * (stop - start);
  return boundView(begin, begin + stop - start);
}

/**
 * Return a view within the limits, without invisible digits.
 * @param {number} start
 * @param {number} stop
 * @returns {Range}
 */
function boundView(start, stop) {
  const width = stop - start;
  const { largest } = getSampling();
  const [low, high] = [Math.max(start, -largest), Math.min(stop, largest)];
  return [roundToUnit(low, width / 1e4), roundToUnit(high, width / 1e4)];
}
