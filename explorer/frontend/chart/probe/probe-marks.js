// The probe: at one x the values of all curves, and on the forward curve the tangent each rule claims.

import { across, down, panelOf } from "../scene/panels.js";
import { shape } from "../../elements/svg.js";
import { roundToUnit } from "../../formula/numbers.js";

/** @import { Frame, Panel } from "../scene/panels.js" */
/** @import { Curves, Line } from "../scene/traces.js" */
/** @import { Values } from "./probe-values.js" */

const ATTRACTION_PX = 6;
const TANGENT_PX = 60; // to each side
const LONGER_PX = 14; // an earlier one of several tangents, so that those that coincide are all seen
const STEPS = 200; // of the arrow keys, over the whole view

/**
 * The x under the pointer: a kink that is near, else a number without digits that a px does not tell apart.
 * @param {Curves} curves
 * @param {Frame} frame
 * @param {number} px from the left end of the chart
 */
export function pointedX(curves, { left, inner, x: [start, stop] }, px) {
  const unit = (stop - start) / inner;
  const x = start + Math.min(Math.max(px - left, 0), inner) * unit;
  const near = kinksOf(curves).filter((kink) => Math.abs(kink - x) <= ATTRACTION_PX * unit);
  if (near.length) return nearest(near, x);
  return Math.min(Math.max(roundToUnit(x, unit), start), stop);
}

/**
 * The x that an arrow key leads to: no kink is passed by.
 * @param {Curves} curves
 * @param {import("../scene/axes.js").Range} view
 * @param {number} x
 * @param {number} steps negative to the left
 */
export function steppedX(curves, [start, stop], x, steps) {
  const unit = (stop - start) / STEPS;
  const next = Math.min(Math.max(roundToUnit(x + steps * unit, unit / 10), start), stop);
  const between = kinksOf(curves).filter((kink) => (kink - x) * (next - kink) > 0);
  return between.length ? nearest(between, x) : next;
}

/** @param {number[]} kinks @param {number} x */
function nearest(kinks, x) {
  return kinks.reduce((best, kink) => (Math.abs(kink - x) < Math.abs(best - x) ? kink : best));
}

/** @param {Curves} curves all kinks, each once */
function kinksOf({ kinks }) {
  return [...new Set(Object.values(kinks).flatMap((some) => some ?? []))];
}

/**
 * The marks of the probe at its x: a line through all panels, tangents, and a dot on every curve.
 * A rule claims the slope gradient / g, its return for each unit of upstream gradient;
 * with g = 0 it claims none.
 * @param {Values} values
 * @param {Line[]} lines
 * @param {Frame} frame
 * @param {number} g
 * @returns {SVGElement[]}
 */
export function probeShapes(values, lines, frame, g) {
  const [start, stop] = frame.x;
  if (!(values.x >= start && values.x <= stop)) return [];
  const x = across(frame, values.x);
  const d = `M${x},${frame.forward.top}V${frame.bottom}`;
  const rule = shape("path", { d, class: "chart-probe-line" });
  const tangents = tangentsOf(values, lines, frame, g).map(({ ends, colour }) =>
    shape("path", { d: `M${ends.join("L")}`, stroke: colour, class: "chart-tangent" }),
  );
  const dots = lines.map((line) => dot(panelOf(frame, line.panel), x, valueOn(line, values), line.colour));
  return [rule, ...tangents, ...dots.filter((some) => some !== null)];
}

/**
 * The tangents that rules claim at the probe, those that can be drawn: the slope, and both ends in px.
 * @param {Values} values
 * @param {Line[]} lines
 * @param {Frame} frame
 * @param {number} g
 */
export function tangentsOf(values, lines, frame, g) {
  const rules = lines.filter(({ panel }) => panel === "gradient");
  return rules.flatMap((line, index) => {
    const reach = TANGENT_PX + LONGER_PX * (rules.length - 1 - index);
    const slope = valueOn(line, values) / g;
    const ends = tangentEnds(frame, across(frame, values.x), values.y, slope, reach);
    return ends ? [{ slope, ends, colour: line.colour }] : [];
  });
}

/** The value of a curve at the probe; NaN where it has none. @param {Line} line @param {Values} values */
export function valueOn({ rule, panel }, { y, gradients, parts }) {
  return { forward: y, gradient: gradients[rule], part: parts[rule] }[panel] ?? NaN;
}

/**
 * @param {Frame} frame
 * @param {number} x in px
 * @param {number} y
 * @param {number} slope
 * @param {number} reach in px
 */
function tangentEnds({ left: first, inner, x: [start, stop], forward }, x, y, slope, reach) {
  if (!Number.isFinite(y) || !Number.isFinite(slope) || !inside(forward, y)) return null;
  const [low, high] = forward.range;
  const steepness = (-slope * forward.height * (stop - start)) / (inner * (high - low)); // px down a px across
  const at = down(forward, y);
  const [above, below] = [at - forward.top, forward.top + forward.height - at];
  const [left, right] = steepness > 0 ? [above, below] : [below, above]; // px to the panel's ends
  const most = reach / Math.hypot(1, steepness);
  const beside = [x - first, first + inner - x];
  const [dx, dx2] = [left, right].map((space, side) =>
    Math.min(most, space / Math.abs(steepness), beside[side]),
  );
  return [
    [x - dx, at - dx * steepness],
    [x + dx2, at + dx2 * steepness],
  ];
}

/** @param {Panel} panel @param {number} x in px @param {number} y @param {string} colour */
function dot(panel, x, y, colour) {
  if (!inside(panel, y)) return null;
  return shape("circle", { cx: x, cy: down(panel, y), r: 4.5, fill: colour, class: "chart-dot" });
}

/** @param {Panel} panel @param {number} y */
function inside({ range: [low, high] }, y) {
  return y >= low && y <= high;
}
