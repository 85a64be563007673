// The layout of a histogram, with a rule's curve over it.

import { share } from "./svg-paths.js";

/** @import { Bar, Point } from "./svg-paths.js" */
/**
 * A histogram and its layout.
 * @typedef {{kind: "histogram", counts: Int32Array, bins: number, highest: number, ends: [number, number], ticks:
 *   string[], curve?: boolean, strong?: boolean, means?: Float32Array, outside?: string}} Histogram as declared by
 *   Python. ``counts``: the counts of all bins, part after part; parts are stacked; ``highest``: the count of a bar as
 *   high as the chart; ``ends``: the ends of the x axis; ``means``: the mean of the values in each bin; ``outside``: a
 *   note on values beyond the ends
 * @typedef {{parts: Bar[][], curve: Point[], zero: number, most: number|null}} Layout in fractions of the picture's
 *   size; ``most``: the maximum of the y axis of the curve, null without a curve
 */

const ROOF = 0.94; // height of the highest bar and of the curve, as a fraction of the chart's
const STRONG_WIDTH = 0.9; // width of a bar in a rule's colour, as a fraction of its bin

/**
 * Return the layout of a histogram. Bars that are too high are cut off.
 * @param {Histogram} histogram @param {Point[]} points the points of the rule's curve, or []
 * @param {number} [height] the height of the curve's axis, if the curve is not higher @returns {Layout}
 */
export function layOutHistogram({ counts, bins, highest, ends, strong }, points, height = 1) {
  const finite = points.map(({ y }) => y).filter(Number.isFinite);
  const [least, most] = [Math.min(0, ...finite), Math.max(height, ...finite)];
  const toHeight = (/** @type {number} */ y) => ROOF * share(y, least, most);
  const tops = new Array(bins).fill(0);
  const bars = Array.from(counts, (count, at) => {
    const [bin, base] = [at % bins, tops[at % bins]];
    tops[bin] = Math.min(base + (ROOF * count) / highest, 1);
    return { from: bin / bins, to: (bin + (strong ? STRONG_WIDTH : 1)) / bins, base, height: tops[bin] };
  });
  return {
    parts: Array.from({ length: counts.length / bins }, (_, part) =>
      bars.slice(part * bins, (part + 1) * bins),
    ),
    curve: points.map(({ x, y }) => ({ x: share(x, ...ends), y: toHeight(y) })),
    zero: toHeight(0),
    most: points.length ? most : null,
  };
}
