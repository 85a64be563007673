// The line of the score by chance, and the position of its word, where no curve passes. No page.

/** @import { Series } from "../state/series.js" */

/** The colour of the line that guessing draws. */
export const GUESSED = "rgba(127, 133, 143, 0.9)";
const WIDE = 0.1; // of the chart, that the word takes
const HIGH = 0.08;
const RIGHT_ENDS = [1, 0.8, 0.6, 0.4, 0.2]; // of the word, as shares of the chart

/**
 * The right end of the word as a share of the chart, and whether it stands above the line: below it and far right
 * if no curve is there, else where there is none; where curves are everywhere, below.
 * @param {number} chance
 * @param {Series[]} series
 * @param {[number, number]} range of y
 * @param {number} steps
 */
export function chancePosition(chance, series, [low, high], steps) {
  const tall = HIGH * (high - low);
  const sides = [
    { isAbove: false, from: chance - tall, to: chance },
    { isAbove: true, from: chance, to: chance + tall },
  ].filter(({ from, to }) => from >= low && to <= high);
  const positions = RIGHT_ENDS.flatMap((x) => sides.map((side) => ({ ...side, x })));
  const free = positions.find((position) => !series.some((each) => passes(each, position, steps)));
  const { x, isAbove } = free ?? positions[0] ?? { x: 1, isAbove: true };
  return { x, isAbove };
}

/**
 * Whether a curve passes through a position, or jumps over it from one point to the next.
 * @param {Series} series
 * @param {{x: number, from: number, to: number}} position
 * @param {number} steps
 */
function passes({ x, y }, { x: right, from, to }, steps) {
  const [start, stop] = [(right - WIDE) * steps, right * steps];
  return Array.from(x).some((at, index) => {
    const next = Math.min(index + 1, x.length - 1);
    if (x[next] < start || at > stop) return false;
    return Math.min(y[index], y[next]) <= to && Math.max(y[index], y[next]) >= from;
  });
}
