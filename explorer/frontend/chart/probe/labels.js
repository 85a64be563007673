// Labels instead of a legend: each rule's name at the end of its gradient curve, and at the probe its x, the slope of
// each tangent and each gradient's value.

import { GRIP_PX, placeGrips } from "../scene/grips.js";
import { toLeftPx, toTopPx } from "../scene/panels.js";
import { shape } from "../../elements/svg.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { getTangents, getValue, isInPanel } from "./probe-marks.js";

/** @import { Frame } from "../scene/panels.js" */
/** @import { Line } from "../scene/traces.js" */
/** @import { Values } from "./probe-values.js" */
/** A part of a label's text, in one colour. @typedef {{text: string, colour: string}} Part */
/**
 * A label with the position of its baseline in px.
 * @typedef {{parts: Part[], x: number, y: number, anchor: "start"|"middle"|"end"}} Label
 */
/** The right end of a gradient curve, in px from the top. @typedef {{label: string, colour: string, y: number}} End */

const LABEL_GAP = 1.25; // line height of labels, as a multiple of the font size
// distances from a line to the baseline of a label above or below it, as multiples of the font size
const [ABOVE, BELOW] = [0.6, 1.3];
const MARGIN_PX = 6; // distance between the end of a line and its label
const DOT_PX = 9; // distance between the middle of a dot and the label of its value
const RING_PX = 7; // radius of a kink's circle, with its stroke
const LETTER = 0.56; // average width of a letter, as a multiple of the font size
const MAX_LABEL_SHARE = 0.4; // maximum width of a label for several rules, as a fraction of the chart's width
const MERGE_PX = 1; // maximum distance of the ends of curves that share a label

/**
 * Draw all labels of the probe.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g the upstream gradient
 * @param {import("../scene/grips.js").Grip[]} grips the handles, which the label of x does not cover
 * @returns {SVGElement[]}
 */
export function drawLabels(values, lines, frame, g, grips) {
  const { forward, gradient, size, x: view } = frame;
  const isInView = values.x >= view[0] && values.x <= view[1];
  const baseline = (forward.top + forward.height + gradient.top + size) / 2 - 2;
  const text = `x = ${formatFourDigits(values.x)}`;
  const handles = placeGrips(grips, frame).map(({ px, aside }) => px + aside);
  /** @type {Label} */
  const at = {
    parts: [{ text, colour: "currentColor" }],
    x: placeXLabel(toLeftPx(frame, values.x), (LETTER * size * text.length) / 2, handles, frame),
    y: baseline,
    anchor: "middle",
  };
  const slopes = makeSlopeLabels(values, lines, frame, g);
  const names = makeEndLabels(lines, frame);
  const gradients = isInView ? [...makeValueLabels(values, lines, frame, names), at] : [];
  return [...slopes, ...names, ...gradients].map(drawLabel);
}

/**
 * Make one label for each distinct gradient at the probe. They are next to its dots, on the side with more room.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {Label[]} names further labels in the panel
 */
function makeValueLabels(values, lines, frame, names) {
  const { left, inner, gradient, size } = frame;
  const px = toLeftPx(frame, values.x);
  const isRight = px > left + inner / 2;
  const x = px + (isRight ? -DOT_PX : DOT_PX);
  /** @type {Map<string, Label>} */
  const labels = new Map();
  for (const line of lines) {
    const value = getValue(line, values);
    if (line.panel !== "gradient" || !isInPanel(gradient, value)) continue;
    const text = formatFourDigits(value);
    const parts = [{ text, colour: labels.has(text) ? "currentColor" : line.colour }];
    labels.set(text, { parts, x, y: toTopPx(gradient, value), anchor: isRight ? "end" : "start" });
  }
  const all = [...labels.values()];
  const dots = all.map(({ y }) => y);
  return placeEndLabels(all, dots, gradient, size, names);
}

/**
 * Return the x of the middle of the label "x = …": at the probe, or as near to it as the handles allow. Lengths are px.
 * @param {number} x the probe's position @param {number} half half of the label's width
 * @param {number[]} handles positions of the handles @param {Pick<Frame, "left"|"inner">} frame
 */
export function placeXLabel(x, half, handles, { left, inner }) {
  const apart = half + GRIP_PX / 2 + MARGIN_PX;
  const isFree = (/** @type {number} */ at) =>
    handles.every((handle) => Math.abs(at - handle) >= apart - 0.5);
  const isInside = (/** @type {number} */ at) => at >= left && at <= left + inner;
  const places = handles.flatMap((handle) => [handle - apart, handle + apart]);
  const nearest = places.toSorted((one, other) => Math.abs(one - x) - Math.abs(other - x));
  return [x, ...nearest].find((at) => isInside(at) && isFree(at)) ?? x;
}

/**
 * Make one label for each distinct slope at an end of its tangent. It covers no curve or mark if possible.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g the upstream gradient
 */
function makeSlopeLabels(values, lines, frame, g) {
  const { forward, size } = frame;
  const points = lines
    .filter(({ panel }) => panel === "forward")
    .flatMap(({ x, y }) => Array.from(x, (at, i) => [toLeftPx(frame, at), toTopPx(forward, y[i])]));
  /** @type {Map<string, Label>} */
  const labels = new Map();
  for (const { slope, ends, colour } of getTangents(values, lines, frame, g)) {
    const text = `slope ${formatFourDigits(slope)}`;
    const existing = labels.get(text);
    const parts = [{ text, colour: existing ? "currentColor" : colour }];
    const place = placeSlopeLabel(ends, LETTER * size * text.length, points, frame);
    labels.set(text, { parts, ...place });
  }
  return separateLabels([...labels.values()], forward, size);
}

/**
 * Choose the position of a slope's label: above or below an end of the tangent. All lengths are in px.
 * @param {number[][]} ends both ends of the tangent @param {number} width width of the label
 * @param {number[][]} points the points of the op's curve @param {Frame} frame
 * @returns {{x: number, y: number, anchor: "start"|"end"}}
 */
export function placeSlopeLabel([start, stop], width, points, { left, inner, forward, size }) {
  const places = [-ABOVE, BELOW].flatMap((away) => [
    { x: stop[0] + MARGIN_PX, y: stop[1] + away * size, anchor: /** @type {const} */ ("start") },
    { x: start[0] - MARGIN_PX, y: start[1] + away * size, anchor: /** @type {const} */ ("end") },
  ]);
  const spanOf = ({ x, anchor } = places[0]) => (anchor === "start" ? [x, x + width] : [x - width, x]);
  const isInside = (place = places[0]) => {
    const [[from, to], { y }] = [spanOf(place), place];
    return from >= left && to <= left + inner && y - size >= forward.top && y <= forward.top + forward.height;
  };
  const isFree = (place = places[0]) => {
    const [[from, to], { y }] = [spanOf(place), place];
    const isOver = (/** @type {number[]} */ [across, down]) =>
      across > from - RING_PX && across < to + RING_PX && down > y - size && down < y + RING_PX / 2;
    return !points.some(isOver);
  };
  const inside = places.filter(isInside);
  return inside.find(isFree) ?? inside[0] ?? places[0];
}

/** @param {Line[]} lines @param {Frame} frame */
function makeEndLabels(lines, frame) {
  const { left, inner, gradient, size } = frame;
  const ends = lines
    .filter(({ panel }) => panel === "gradient")
    .map(({ label, colour, y }) => {
      const last = Array.from(y).findLast(Number.isFinite) ?? 0;
      return { label, colour, y: toTopPx(gradient, last) };
    });
  const x = left + inner - MARGIN_PX;
  const labels = groupEnds(ends, (MAX_LABEL_SHARE * inner) / (LETTER * size)).map(({ y, parts }) => {
    return { parts, x, y, anchor: /** @type {const} */ ("end") };
  });
  return placeEndLabels(
    labels,
    ends.map(({ y }) => y),
    gradient,
    size,
  );
}

/**
 * Merge the labels of gradient curves that end at the same height.
 * @param {End[]} ends @param {number} maxLetters maximum length of a merged label
 * @returns {{y: number, parts: Part[]}[]}
 */
export function groupEnds(ends, maxLetters) {
  /** @type {{y: number, ends: End[]}[]} */
  const groups = [];
  for (const end of ends) {
    const isShortEnough = (/** @type {End[]} */ others) => countLabelLetters([...others, end]) <= maxLetters;
    const group = groups.find(
      ({ y, ends: others }) => Math.abs(y - end.y) <= MERGE_PX && isShortEnough(others),
    );
    if (group) group.ends.push(end);
    else groups.push({ y: end.y, ends: [end] });
  }
  return groups.map(({ y, ends: members }) => {
    const last = members.length - 1;
    const toText = (/** @type {End} */ { label }, /** @type {number} */ at) =>
      at < last ? `${label}, ` : label;
    return { y, parts: members.map((each, at) => ({ text: toText(each, at), colour: each.colour })) };
  });
}

/** @param {End[]} ends */
function countLabelLetters(ends) {
  return ends.reduce((sum, { label }) => sum + label.length + 2, 0);
}

/**
 * Place labels at the right ends of curves without covering any end: above it if possible, otherwise below. Labels of
 * curves that end at the same height are stacked. Returns the labels that have a place nearest to their own curve.
 * @param {Label[]} labels their y is that of the curve's end, and is replaced by that of the baseline
 * @param {number[]} ends the ends of all curves, in px from the top @param {import("../scene/panels.js").Panel} panel
 * @param {number} size font size in px @param {Label[]} [others] labels that are already in the panel
 */
export function placeEndLabels(labels, ends, { top, height }, size, others = []) {
  const [above, below] = [ABOVE * size, BELOW * size]; // baseline distances of a label above or below its curve's end
  const middle = (below - above) / 2; // of a label's letters, above its baseline
  const placed = [...others];
  const steps = Array.from(
    { length: 4 * (labels.length + others.length) },
    (_, step) => step * (LABEL_GAP * size) * 0.5,
  );
  return labels.filter((label) => {
    const end = label.y;
    const isOwn = (/** @type {number} */ y) => {
      const away = Math.abs(y - middle - end) - MERGE_PX;
      return ends.every((each) => Math.abs(y - middle - each) >= away);
    };
    const isFree = (/** @type {number} */ y) =>
      y >= top + size &&
      y <= top + height - size / 4 &&
      isOwn(y) &&
      ends.every((each) => y <= each - above + 0.5 || y >= each + below - 0.5) &&
      !placed.some((other) => areTooNear({ ...label, y }, other, size));
    const place = steps.flatMap((step) => [end - above - step, end + below + step]).find(isFree);
    if (place === undefined) return false;
    label.y = place;
    return placed.push(label);
  });
}

/** @param {Label} one @param {Label} other @param {number} size font size in px */
function areTooNear(one, other, size) {
  const [[from, to], [from2, to2]] = [one, other].map(({ x, anchor, parts }) => {
    const width = LETTER * size * parts.reduce((sum, { text }) => sum + text.length, 0);
    return anchor === "end" ? [x - width, x + MARGIN_PX] : [x, x + width + MARGIN_PX];
  });
  return from < to2 && from2 < to && Math.abs(one.y - other.y) < LABEL_GAP * size - 0.5;
}

/**
 * Move labels within a panel until none overlap. Returns them from top to bottom.
 * @param {Label[]} labels @param {import("../scene/panels.js").Panel} panel @param {number} size font size in px
 */
function separateLabels(labels, { top, height }, size) {
  const sorted = labels.toSorted((one, other) => one.y - other.y);
  let minY = top + size;
  for (const label of sorted) {
    label.y = Math.max(label.y, minY);
    minY = label.y + LABEL_GAP * size;
  }
  let maxY = top + height - size / 4;
  for (const label of sorted.toReversed()) {
    label.y = Math.min(label.y, maxY);
    maxY = label.y - LABEL_GAP * size;
  }
  return sorted;
}

/** @param {Label} label */
function drawLabel({ parts, x, y, anchor }) {
  const node = shape("text", { x, y, "text-anchor": anchor, class: "chart-label" });
  for (const { text, colour } of parts) {
    const part = shape("tspan");
    part.style.setProperty("--colour", colour);
    part.textContent = text;
    node.append(part);
  }
  return node;
}
