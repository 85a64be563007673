// A label for the chart's line at the score of random guessing, placed where no curve crosses it.

import { makeGrey } from "../../chart/plotly/plotly.js";

/** @import { Series } from "../state/series.js" */

/** The colour of the line at the score of random guessing. */
export const CHANCE_COLOUR = makeGrey(0.9);
const LABEL_WIDTH = 0.1; // of the label, as a fraction of the chart's width
const LABEL_HEIGHT = 0.17; // of the label, as a fraction of the y range; enough for large letters
const RIGHT_ENDS = [1, 0.8, 0.6, 0.4]; // right ends of the label to try, as fractions of the chart's width

/**
 * Choose a position for the label of the line at the score of random guessing that no curve crosses. Positions far
 * right and below the line are preferred; if curves cross all of them, the first is returned. ``x`` is the right end of
 * the label as a fraction of the chart's width.
 * @param {number} chance the score @param {Series[]} series @param {[number, number]} range the ends of the y axis
 * @param {number} steps the end of the x axis
 */
export function placeChanceLabel(chance, series, [low, high], steps) {
  const tall = LABEL_HEIGHT * (high - low);
  const sides = [
    { isAbove: false, from: chance - tall, to: chance },
    { isAbove: true, from: chance, to: chance + tall },
  ].filter(({ from, to }) => from >= low && to <= high);
  const positions = RIGHT_ENDS.flatMap((x) => sides.map((side) => ({ ...side, x })));
  const free = positions.find((position) => !series.some((each) => isOverlapping(each, position, steps)));
  const { x, isAbove } = free ?? positions[0] ?? { x: 1, isAbove: true };
  return { x, isAbove };
}

/**
 * @param {Series} series
 * @param {{x: number, from: number, to: number}} position ``x``: the right end; ``from``, ``to``: the ends on the y
 *   axis
 * @param {number} steps
 */
function isOverlapping({ x, y }, { x: right, from, to }, steps) {
  const [start, stop] = [(right - LABEL_WIDTH) * steps, right * steps];
  return Array.from(x).some((at, index) => {
    const next = Math.min(index + 1, x.length - 1);
    if (x[next] < start || at > stop) return false;
    return Math.min(y[index], y[next]) <= to && Math.max(y[index], y[next]) >= from;
  });
}
