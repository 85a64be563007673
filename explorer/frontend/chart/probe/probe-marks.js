// Marks of the probe: a dot on every curve at one x, and the tangent that each backward rule implies for the op.

import { PAD } from "../scene/axes.js";
import { toLeftPx, toTopPx, findPanel } from "../scene/panels.js";
import { shape } from "../../elements/svg.js";
import { roundToUnit } from "../../formula/numbers.js";

/** @import { Frame, Panel } from "../scene/panels.js" */
/** @import { Curves, Line } from "../scene/traces.js" */
/** @import { Values } from "./probe-values.js" */

const ATTRACTION_PX = 6;
const TANGENT_PX = 60; // length of a tangent to each side of the probe
const EXTRA_PX = 14; // added per tangent, from last to first, so that equal ones all show
const STEPS = 200; // number of key presses from one end of the chart to the other

/**
 * Return the x under the pointer, rounded to the resolution of a pixel. Near a kink, return the kink.
 * @param {Curves} curves @param {Frame} frame @param {number} px position from the left edge of the chart
 */
export function findPointedX(curves, { left, inner, x: [start, stop] }, px) {
  const unit = (stop - start) / inner;
  const x = start + Math.min(Math.max(px - left, 0), inner) * unit;
  const near = listKinks(curves).filter((kink) => Math.abs(kink - x) <= ATTRACTION_PX * unit);
  if (near.length) return findNearestKink(near, x);
  return Math.min(Math.max(roundToUnit(x, unit), start), stop);
}

/**
 * Return the x to which arrow keys move the probe. It stops at kinks.
 * @param {Curves} curves @param {import("../scene/axes.js").Range} view the visible range
 * @param {number} x position of the probe @param {number} steps number of steps, negative to the left
 */
export function stepX(curves, [start, stop], x, steps) {
  const unit = (stop - start) / STEPS;
  const next = Math.min(Math.max(roundToUnit(x + steps * unit, unit / 10), start), stop);
  const skipped = listKinks(curves).filter((kink) => (kink - x) * (next - kink) > 0);
  return skipped.length ? findNearestKink(skipped, x) : next;
}

/** @param {number[]} kinks @param {number} x */
function findNearestKink(kinks, x) {
  return kinks.reduce((best, kink) => (Math.abs(kink - x) < Math.abs(best - x) ? kink : best));
}

/** @param {Curves} curves */
function listKinks({ kinks }) {
  return [...new Set(Object.values(kinks).flatMap((some) => some ?? []))];
}

/**
 * Draw the probe as SVG: a vertical line, a dot on every curve, and for each rule a tangent to the op's curve whose
 * slope is gradient / g, if it is finite. Returns [] out of view.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g the upstream gradient
 * @returns {SVGElement[]}
 */
export function drawProbe(values, lines, frame, g) {
  const [start, stop] = frame.x;
  if (!(values.x >= start && values.x <= stop)) return [];
  const x = toLeftPx(frame, values.x);
  const d = `M${x},${frame.forward.top}V${frame.bottom}`;
  const dashes = { stroke: "currentColor", "stroke-dasharray": "3 3", opacity: 0.55 };
  const rule = shape("path", { d, ...dashes, class: "chart-probe-line" });
  const tangents = getTangents(values, lines, frame, g).map(({ ends, colour }) =>
    shape("path", { d: `M${ends.join("L")}`, stroke: colour, "stroke-width": 2, class: "chart-tangent" }),
  );
  const dots = lines.map((line) =>
    drawDot(findPanel(frame, line.panel), x, getValue(line, values), line.colour),
  );
  return [rule, ...tangents, ...dots.filter((some) => some !== null)];
}

/**
 * Return the tangent that each rule implies at the probe: its slope gradient / g, and its ends in px. Tangents outside
 * the panel are left out.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g the upstream gradient
 */
export function getTangents(values, lines, frame, g) {
  const rules = lines.filter(({ panel }) => panel === "gradient");
  return rules.flatMap((line, index) => {
    const reach = TANGENT_PX + EXTRA_PX * (rules.length - 1 - index);
    const slope = getValue(line, values) / g;
    const ends = clipTangent(frame, toLeftPx(frame, values.x), values.y, slope, reach);
    return ends ? [{ slope, ends, colour: line.colour }] : [];
  });
}

/** Return the value of a curve at the probe, NaN if it has none. @param {Line} line @param {Values} values */
function getValue({ rule, panel }, { y, gradients, parts }) {
  return { forward: y, gradient: gradients[rule], part: parts[rule] }[panel] ?? NaN;
}

/**
 * Return both ends of a tangent, which are where the op has values, or null if it is not visible. Lengths are in px.
 * @param {Frame} frame @param {number} x distance of its point from the left @param {number} y @param {number} slope
 * @param {number} reach maximum length to each side
 */
function clipTangent({ left: first, inner, x: [start, stop], forward }, x, y, slope, reach) {
  if (!Number.isFinite(y) || !Number.isFinite(slope) || !isInPanel(forward, y)) return null;
  const [low, high] = forward.range;
  // in px of height per px of width
  const steepness = (-slope * forward.height * (stop - start)) / (inner * (high - low));
  const at = toTopPx(forward, y);
  const pad = (PAD / (1 + 2 * PAD)) * forward.height;
  const above = Math.max(at - forward.top - pad, 1e-9); // px to the largest y
  const below = Math.max(forward.top + forward.height - pad - at, 1e-9); // px to the smallest
  const [left, right] = steepness > 0 ? [above, below] : [below, above];
  const maxDx = reach / Math.hypot(1, steepness);
  const sideRoom = [x - first, first + inner - x];
  const [dx, dx2] = [left, right].map((space, side) =>
    Math.min(maxDx, space / Math.abs(steepness), sideRoom[side]),
  );
  return [
    [x - dx, at - dx * steepness],
    [x + dx2, at + dx2 * steepness],
  ];
}

/**
 * Draw a dot on a curve. Returns null if its value is outside the panel.
 * @param {Panel} panel @param {number} x distance from the left in px @param {number} y @param {string} colour
 */
function drawDot(panel, x, y, colour) {
  if (!isInPanel(panel, y)) return null;
  return shape("circle", {
    cx: x,
    cy: toTopPx(panel, y),
    r: 4.5,
    fill: colour,
    "stroke-width": 2,
    class: "chart-dot",
  });
}

/** Return whether a value is in the y range of a panel. @param {Panel} panel @param {number} y */
export function isInPanel({ range: [low, high] }, y) {
  return y >= low && y <= high;
}
