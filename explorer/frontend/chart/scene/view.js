// Moving and zooming the visible range of x, within the largest range.

import { roundToUnit } from "../../formula/numbers.js";
import { getSampling } from "../../formula/sampling.js";

/** @import { Range } from "./axes.js" */

/**
 * Zoom the visible range so that ``x`` keeps its position on the screen.
 * @param {Range} view @param {number} x @param {number} factor ratio of the new width to the old one
 */
export function zoomView([start, stop], x, factor) {
  const { least, narrowest: share } = getSampling();
  const narrowest = Math.max(least, share * Math.max(Math.abs(start), Math.abs(stop)));
  const width = stop - start;
  const scale = Math.max(factor, Math.min(narrowest / width, 1));
  return boundView(x + (start - x) * scale, x + (stop - x) * scale);
}

/** Move the visible range. @param {Range} view @param {number} share fraction of its width, positive to the right */
export function moveView([start, stop], share) {
  const width = stop - start;
  const { largest } = getSampling();
  const by = Math.min(Math.max(share * width, -largest - start), largest - stop);
  return boundView(start + by, stop + by);
}

/**
 * Return the visible range after a pinch: each finger keeps its x.
 * @param {Range} view the range before
 * @param {[number, number]} from initial positions of the fingers, as fractions of the width
 * @param {[number, number]} to their current positions
 */
export function pinchView(view, from, to) {
  const fixedX = view[0] + ((from[0] + from[1]) / 2) * (view[1] - view[0]);
  const factor = Math.abs(from[1] - from[0]) / Math.max(Math.abs(to[1] - to[0]), 0.02);
  const [start, stop] = zoomView(view, fixedX, factor);
  const begin = fixedX - ((to[0] + to[1]) / 2) * (stop - start);
  return boundView(begin, begin + stop - start);
}

/**
 * Limit the visible range to the largest one, and round its ends to the resolution of a pixel.
 * @param {number} start @param {number} stop @returns {Range}
 */
function boundView(start, stop) {
  const width = stop - start;
  const { largest } = getSampling();
  const [low, high] = [Math.max(start, -largest), Math.min(stop, largest)];
  return [roundToUnit(low, width / 1e4), roundToUnit(high, width / 1e4)];
}
