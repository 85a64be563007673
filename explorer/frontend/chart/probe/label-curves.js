// The curves of a panel as points in px, and which of them coincide, for the labels that name them.

import { clampTo } from "../../formula/numbers.js";
import { toLeftPx, toTopPx } from "../scene/panels.js";
import { mix } from "./placement.js";

/** @import { Frame, Panel } from "../scene/panels.js" */
/** @import { Line } from "../scene/traces.js" */
/** @import { Pixel } from "./placement.js" */
/** A line as far as its points are concerned. @typedef {Pick<Line, "x"|"y"> & Partial<Line>} Drawn */
/**
 * One or more equal lines. ``heights``: their y in px, by index of x; ``points``: points on them, close together, with
 * that index as the third number.
 * @typedef {{lines: Drawn[], heights: number[], points: Pixel[]}} Curve
 */

const STEP_PX = 4; // distance of the points on a curve
const BEYOND_PX = 30; // distance from the panel up to which curves are followed
const SAME_PX = 1.5; // maximum distance of curves that look like one

/**
 * Return the curves of a panel, equal lines as one. Lines without a finite value are left out.
 * @param {Drawn[]} lines @param {Frame} frame @param {Panel} panel @returns {Curve[]}
 */
export function traceCurves(lines, frame, panel) {
  const [low, high] = [panel.top - BEYOND_PX, panel.top + panel.height + BEYOND_PX];
  /** @type {Curve[]} */
  const curves = [];
  for (const line of lines) {
    const heights = Array.from(line.y, (y) => clampTo(toTopPx(panel, y), low, high));
    if (!heights.some(Number.isFinite)) continue;
    const curve = { lines: [line], heights, points: tracePoints(line, heights, frame) };
    const equal = curves.find((other) => heights.every((_, at) => areTogether(curve, other, at)));
    if (equal) equal.lines.push(line);
    else curves.push(curve);
  }
  return curves;
}

/** Return whether two curves coincide at an index of x. @param {Curve} one @param {Curve} other @param {number} at */
function areTogether(one, other, at) {
  const [y, y2] = [one.heights[at], other.heights[at]];
  return Math.abs(y - y2) <= SAME_PX || (Number.isNaN(y) && Number.isNaN(y2));
}

/** @param {Drawn} line @param {number[]} heights see ``Curve`` @param {Frame} frame @returns {Pixel[]} */
function tracePoints({ x, gaps }, heights, frame) {
  /** @type {Pixel[]} */
  const points = [];
  let last = /** @type {Pixel|null} */ (null); // null where the line breaks
  for (const [at, y] of heights.entries()) {
    const next = [toLeftPx(frame, x[at]), y, at];
    const count = last ? Math.floor(Math.hypot(next[0] - last[0], y - last[1]) / STEP_PX) : 1;
    const from = last ?? next;
    if (Number.isFinite(y))
      for (let step = 1; step <= count; step += 1) points.push([...mix([from, next], step / count), at]);
    if (!Number.isFinite(y) || gaps?.[at]) last = null;
    else if (count) last = next;
  }
  return points;
}

/**
 * Return the points of some curves where they coincide, and those of all others and of themselves elsewhere.
 * @param {Curve[]} group @param {Curve[]} curves all curves of the panel
 */
export function splitPoints(group, curves) {
  const isShared = (/** @type {Pixel} */ [, , at]) =>
    group.every((curve) => areTogether(curve, group[0], at));
  const own = group[0].points.filter(isShared);
  const apart = group.map(({ points }) => points.filter((point) => !isShared(point)));
  const others = curves.filter((curve) => !group.includes(curve)).map(({ points }) => points);
  return { own, others: [...apart, ...others] };
}

/**
 * Return the groups of curves in which a curve is at some of its points, itself included: first those without the first
 * of all curves, then small ones.
 * @param {Curve} curve @param {Curve[]} curves
 */
export function listGroups(curve, curves) {
  const places = [...new Set(curve.points.map(([, , at]) => at))];
  const keys = places.map((at) => curves.map((other) => Number(areTogether(curve, other, at))).join(""));
  const groups = [...new Set(keys)].map((key) => curves.filter((_, at) => key[at] === "1"));
  const rank = (/** @type {Curve[]} */ group) =>
    group.length + (group.includes(curves[0]) ? curves.length : 0);
  return groups.sort((one, other) => rank(one) - rank(other));
}
