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
/** A position in px from the chart's left and upper edge. @typedef {number[]} Pixel */
/** The reader's own drawing, which labels do not cover. @typedef {import("../scene/picture.js").Sketch} Sketch */
/** The right end of a gradient curve, in px from the top. @typedef {{label: string, colour: string, y: number}} End */

const LABEL_GAP = 1.25; // line height of labels, as a multiple of the font size
// distances from a line to the baseline of a label above or below it, as multiples of the font size
const [ABOVE, BELOW] = [0.6, 1.3];
const MARGIN_PX = 6; // distance between the end of a line and its label
const DOT_PX = 9; // distance between the middle of a dot and the label of its value
const RING_PX = 5.5; // radius of a kink's circle, with its stroke
const CLEAR_PX = 2; // minimum distance between the letters of a slope and lines
// Places of a slope's label: share of the tangent, then the distance of the baseline as a multiple of the font size.
const SLOPE_PLACES = [0, 0.7, 1.6]
  .flatMap((more) => [-ABOVE - more, BELOW + more, 0.3])
  .flatMap((away) => [1, 0.7, 0.4].map((share) => [share, away]));
const LINE_SHARES = Array.from({ length: 17 }, (_, index) => index / 16); // where distances from a line are measured
const VALUE_STEPS = 3; // number of half lines by which the label of a value may move away from its dot
const LETTER = 0.56; // average width of a letter, as a multiple of the font size
const MAX_LABEL_SHARE = 0.4; // maximum width of a label for several rules, as a fraction of the chart's width
const MERGE_PX = 1; // maximum distance of the ends of curves that share a label

/**
 * Draw all labels of the probe.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g the upstream gradient
 * @param {{grips: import("../scene/grips.js").Grip[], sketch?: Sketch}} around ``grips``: the handles, which the label
 *   of x does not cover
 * @returns {SVGElement[]}
 */
export function drawLabels(values, lines, frame, g, { grips, sketch }) {
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
  const names = makeEndLabels(lines, frame, sketch);
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
  const before = { x: px - DOT_PX, anchor: /** @type {const} */ ("end") };
  const after = { x: px + DOT_PX, anchor: /** @type {const} */ ("start") };
  const sides = px > left + inner / 2 ? [before, after] : [after, before];
  /** @type {Map<string, Label>} */
  const labels = new Map();
  for (const line of lines) {
    const value = getValue(line, values);
    if (line.panel !== "gradient" || !isInPanel(gradient, value)) continue;
    const text = formatFourDigits(value);
    const parts = [{ text, colour: labels.has(text) ? "currentColor" : line.colour }];
    labels.set(text, { parts, ...sides[0], y: toTopPx(gradient, value) });
  }
  const all = [...labels.values()];
  const dots = all.map(({ y }) => y);
  return placeEndLabels(all, dots, gradient, size, { others: names, sides });
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
 * Make one label for each distinct slope at its tangent.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g upstream gradient
 */
function makeSlopeLabels(values, lines, frame, g) {
  const curves = lines.filter(({ panel }) => panel === "forward");
  const toPx = (/** @type {Line} */ { x, y }) => Array.from(x, (at, i) => toPoint(frame, at, y[i]));
  const points = curves.flatMap(toPx);
  const rings = curves.flatMap(({ x, y, closed, open }) =>
    [...closed, ...open].map((at) => toPoint(frame, x[at], y[at])),
  );
  const tangents = getTangents(values, lines, frame, g).map(({ slope, ends, colour }) => {
    return { text: `slope ${formatFourDigits(slope)}`, ends, colour };
  });
  /** @type {Map<string, Label>} */
  const labels = new Map();
  for (const { text, ends, colour } of tangents) {
    const existing = labels.get(text);
    if (existing) existing.parts[0].colour = "currentColor";
    if (existing) continue;
    const others = tangents.filter((other) => other.text !== text).map((other) => other.ends);
    const around = { points, rings, others, labels: [...labels.values()] };
    const place = placeSlopeLabel(ends, text, frame, around);
    if (place) labels.set(text, { ...place, parts: [{ text, colour }] });
  }
  return [...labels.values()];
}

/** @param {Frame} frame @param {number} x @param {number} y of the op @returns {Pixel} */
const toPoint = (frame, x, y) => [toLeftPx(frame, x), toTopPx(frame.forward, y)];

/**
 * Choose the position of a slope's label: near an end of the tangent, and on no other label. If possible, it is nearer
 * to its tangent than to any other, and covers no curve and no ring. Returns null if there is no such place.
 * @param {Pixel[]} ends of the tangent @param {string} text @param {Frame} frame
 * @param {{points: Pixel[], rings: Pixel[], others: Pixel[][], labels: Label[]}} around ``points``: of the op's curve;
 *   ``rings``: the middles of its circles; ``others``: the ends of the other tangents
 * @returns {Label|null}
 */
export function placeSlopeLabel(ends, text, { left, inner, forward, size }, around) {
  const width = LETTER * size * text.length;
  const parts = [{ text, colour: "" }];
  /** @type {Label[]} */
  const places = SLOPE_PLACES.flatMap(([share, away]) => {
    const [[x, y], [x2, y2]] = [ends, ends.toReversed()].map((line) => mix(line, share));
    return [
      { parts, x: Math.min(x + MARGIN_PX, left + inner - width), y: y + away * size, anchor: "start" },
      { parts, x: Math.max(x2 - MARGIN_PX, left + width), y: y2 + away * size, anchor: "end" },
    ];
  });
  const getLeft = (/** @type {Label} */ { x, anchor }) => (anchor === "start" ? x : x - width);
  const getGap = (/** @type {Pixel} */ [across, down], /** @type {Label} */ place) => {
    const [from, top, bottom] = [getLeft(place), place.y - 0.8 * size, place.y + 0.2 * size];
    const gaps = [Math.max(from - across, across - from - width), Math.max(top - down, down - bottom)];
    return Math.hypot(...gaps.map((gap) => Math.max(gap, 0)));
  };
  const getLineGap = (/** @type {Pixel[]} */ line, /** @type {Label} */ place) =>
    Math.min(...LINE_SHARES.map((share) => getGap(mix(line, share), place)));
  /** Return by how many px its own tangent is nearer than any other, half a letter at most. @param {Label} place */
  const getLead = (place) =>
    Math.min(size / 2, ...around.others.map((other) => getLineGap(other, place) - getLineGap(ends, place)));
  const isPossible = (/** @type {Label} */ place) => {
    const isInside = place.y - size >= forward.top && place.y <= forward.top + forward.height;
    return isInside && !around.labels.some((other) => areTooNear(place, other, size));
  };
  const isOwn = (/** @type {Label} */ place) => getLead(place) > 0;
  const isFree = (/** @type {Label} */ place) =>
    [ends, ...around.others].every((line) => getLineGap(line, place) >= CLEAR_PX) &&
    around.points.every((point) => getGap(point, place) >= CLEAR_PX) &&
    around.rings.every((ring) => getGap(ring, place) >= RING_PX);
  const possible = places.filter(isPossible).sort((one, other) => getLead(other) - getLead(one));
  const own = possible.filter(isOwn);
  return own.find(isFree) ?? possible.find(isFree) ?? own[0] ?? possible[0] ?? null;
}

/** Return the point of a line at a share of the way. @param {Pixel[]} line its ends @param {number} share @returns {Pixel} */
const mix = ([[x, y], [x2, y2]], share) => [x + share * (x2 - x), y + share * (y2 - y)];

/**
 * Make the labels of gradient curves at their right ends. A label without a place joins that of the nearest curve; a
 * rule without a finite value has its label away from curves.
 * @param {Line[]} lines @param {Frame} frame @param {Sketch} [sketch]
 */
export function makeEndLabels(lines, frame, sketch) {
  const { left, inner, gradient, size } = frame;
  const curves = lines.filter(({ panel }) => panel === "gradient");
  const finite = curves.filter(({ y }) => Array.from(y).some(Number.isFinite));
  const ends = finite.map(({ label, colour, y }) => {
    const last = /** @type {number} */ (Array.from(y).findLast(Number.isFinite));
    return { label, colour, y: toTopPx(gradient, last) };
  });
  const points = [...curves, ...(sketch ? [sketch] : [])].flatMap(({ x, y }) =>
    Array.from(x, (at, index) => [toLeftPx(frame, at), toTopPx(gradient, y[index])]),
  );
  const x = left + inner - MARGIN_PX;
  const labels = groupEnds(ends, (MAX_LABEL_SHARE * inner) / (LETTER * size)).map(({ y, parts }) => {
    return { parts, x, y, anchor: /** @type {const} */ ("end") };
  });
  const heights = ends.map(({ y }) => y);
  const wanted = labels.map((label) => ({ label, end: label.y }));
  const named = placeEndLabels(labels, heights, gradient, size, { points });
  for (const { label, end } of wanted.filter(({ label: each }) => named.length && !named.includes(each))) {
    const [near] = named.toSorted((one, other) => Math.abs(one.y - end) - Math.abs(other.y - end));
    near.parts = [...near.parts, { text: ", ", colour: "currentColor" }, ...label.parts];
  }
  const y = gradient.top + gradient.height / 2;
  /** @type {Label[]} */
  const absent = curves
    .filter((line) => !finite.includes(line))
    .map(({ label, colour }) => ({ parts: [{ text: `${label}: not finite`, colour }], x, y, anchor: "end" }));
  return [...named, ...placeEndLabels(absent, [], gradient, size, { others: named, points })];
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
    const isShortEnough = (/** @type {End[]} */ others) =>
      [...others, end].reduce((sum, { label }) => sum + label.length + 2, 0) <= maxLetters;
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

/**
 * Place labels at the right ends of curves without covering any end: above it if possible, otherwise below. Labels of
 * curves that end at the same height are stacked. Returns the labels that have a place nearest to their own curve.
 * @param {Label[]} labels their y is that of the curve's end, and is replaced by that of the baseline
 * @param {number[]} ends the ends of all curves, in px from the top @param {import("../scene/panels.js").Panel} panel
 * @param {number} size font size in px
 * @param {{others?: Label[], sides?: Pick<Label, "x"|"anchor">[], points?: Pixel[]}} around ``others``: labels that are
 *   already in the panel; ``sides``: places of labels that stay near their end, the best one first; ``points``: of
 *   curves, which labels cover only without another place
 */
export function placeEndLabels(
  labels,
  ends,
  { top, height },
  size,
  { others = [], sides = [], points = [] },
) {
  const [above, below] = [ABOVE * size, BELOW * size]; // baseline distances of a label above or below its curve's end
  const middle = (below - above) / 2; // of a label's letters, above its baseline
  const placed = [...others];
  const steps = Array.from(
    { length: sides.length ? VALUE_STEPS : 4 * (labels.length + others.length) },
    (_, step) => step * (LABEL_GAP * size) * 0.5,
  );
  return labels.filter((label) => {
    const end = label.y;
    const isOwn = (/** @type {number} */ y) => {
      const away = Math.abs(y - middle - end) - MERGE_PX;
      return ends.every((each) => Math.abs(y - middle - each) >= away);
    };
    const isFree = ({ x, y, anchor } = label) =>
      y >= top + size &&
      y <= top + height - size / 4 &&
      isOwn(y) &&
      ends.every((each) => y <= each - above + 0.5 || y >= each + below - 0.5) &&
      !placed.some((other) => areTooNear({ ...label, x, y, anchor }, other, size));
    const places = steps
      .flatMap((step) =>
        (sides.length ? sides : [label]).flatMap((side) =>
          [end - above - step, end + below + step].map((y) => ({ ...label, ...side, y })),
        ),
      )
      .filter(isFree);
    const [from, to] = getEnds(label, size);
    const isClear = ({ y } = label) =>
      !points.some(([at, down]) => at > from && at < to && down > y - 0.8 * size && down < y + 0.2 * size);
    const getGap = (/** @type {Pick<Label, "y">} */ { y }) => Math.abs(y - end);
    const near = places.filter((place) => getGap(place) <= getGap(places[0]) + LABEL_GAP * size);
    const place = near.find(isClear) ?? near[0];
    return place !== undefined && placed.push(Object.assign(label, place));
  });
}

/** @param {Label} one @param {Label} other @param {number} size font size in px */
function areTooNear(one, other, size) {
  const [[from, to], [from2, to2]] = [one, other].map((label) => getEnds(label, size));
  return from < to2 && from2 < to && Math.abs(one.y - other.y) < LABEL_GAP * size - 0.5;
}

/** Return the ends of a label across, with a margin on the right. @param {Label} label @param {number} size px */
function getEnds({ x, anchor, parts }, size) {
  const width = LETTER * size * parts.reduce((sum, { text }) => sum + text.length, 0);
  return anchor === "end" ? [x - width, x + MARGIN_PX] : [x, x + width + MARGIN_PX];
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
