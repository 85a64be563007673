// Labels instead of a legend: each rule's name next to its gradient curve, and at the probe its x, the slope of each
// tangent and each gradient's value.

import { GRIP_PX, placeGrips } from "../scene/grips.js";
import { toLeftPx, toTopPx } from "../scene/panels.js";
import { shape } from "../../elements/svg.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { listGroups, splitPoints, traceCurves } from "./label-curves.js";
import { getGap, makeSquare, mix, placeLabels } from "./placement.js";
import { getTangents, isInPanel } from "./probe-marks.js";

/** @import { Frame, Panel } from "../scene/panels.js" */
/** @import { Line } from "../scene/traces.js" */
/** @import { Curve } from "./label-curves.js" */
/** @import { Box, Pixel, Request, Trace } from "./placement.js" */
/** @import { Values } from "./probe-values.js" */
/** A part of a label's text, in one colour. @typedef {{text: string, colour: string}} Part */
/** A label without a place: its rows, and where it may be. @typedef {{rows: Part[][], size: number} & Request} Draft */
/**
 * A label in its box. ``side``: -1 if its text ends at the right edge of the box, 0 in the middle, 1 if it starts at
 * the left edge; ``lead``: see ``Place``.
 * @typedef {{rows: Part[][], size: number, box: Box, side: number, lead: Pixel[]}} Label
 */
/** A curve drawn by hand, which labels do not cover. @typedef {import("../scene/picture.js").Sketch} Sketch */

const MIN_SIZE = 12; // of the letters, in px
const [LETTER, LINE, ASCENT] = [0.55, 1.2, 0.8]; // width, height and ascent of letters, as multiples of the font size
const MARGIN_PX = 6; // distance of the label of x from handles
const [DOT_PX, RING_PX, KNOB_PX] = [6, 5.5, 9]; // radius of a dot, of a circle at a jump, and of the probe's point
const SAME_DOT_PX = 3; // distance of dots below which they look like one
const MAX_SHARE = 0.4; // maximum width of names in one row, as a fraction of the chart's width
const SPOT_CLEAR_PX = 5; // distance of such a point from other curves
const MAX_SPOTS = 48; // for each name
const FAR_LEADS_PX = [24, 48, 72, 96, 132, 168, 204, 240]; // distances of a name in another panel from its curve
const SPOT_PX = 16; // distance of the points of a curve next to which its name may be
const SHARES = [1, 0.8, 0.6, 0.4]; // points of half a tangent next to which its slope may be
const SAMPLES = Array.from({ length: 17 }, (_, index) => index / 16); // shares of a tangent for its points

/**
 * Draw all labels of the probe.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g the upstream gradient
 * @param {{grips: import("../scene/grips.js").Grip[], sketches?: Sketch[]}} around ``grips``: the handles, which the label
 *   of x does not cover
 * @returns {SVGElement[]}
 */
export function drawLabels(values, lines, frame, g, around) {
  return layOutLabels(values, lines, frame, g, around).flatMap(drawLabel);
}

/**
 * Return all labels of the probe. A name gives way if a value has no place otherwise. See ``drawLabels``.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g
 * @param {{grips: import("../scene/grips.js").Grip[], sketches?: Sketch[]}} around @returns {Label[]}
 */
export function layOutLabels(values, lines, frame, g, { grips, sketches = [] }) {
  if (!(values.x >= frame.x[0] && values.x <= frame.x[1])) return makeNameLabels(lines, frame, sketches);
  const slopes = makeSlopeLabels(values, lines, frame, g);
  const x = makeXLabel(values, frame, grips);
  const drafts = draftValues(values, lines, frame);
  const { forward, gradient } = frame;
  const between = (forward.top + forward.height + gradient.top) / 2;
  const handles = placeGrips(grips, frame).map(({ px, aside }) => [px + aside, between]);
  const curves = traceCurves(
    lines.filter(({ panel }) => panel === "forward"),
    frame,
    forward,
  );
  const tangents = getTangents(values, lines, frame, g).map(({ ends }) => sampleLine(ends));
  const above = {
    taken: [...toBoxes([...slopes, x]), ...handles.map((middle) => makeSquare(middle, GRIP_PX / 2))],
    solid: [...curves.map(({ points }) => points), ...tangents],
  };
  /** @param {Box[]} taken */
  const placeNames = (taken) => makeNameLabels(lines, frame, sketches, taken, above);
  /** @param {Label[]} names */
  const placeValues = (names) => keepPlaced(placeDrafts(drafts, frame, "gradient", toBoxes(names)));
  const names = placeNames([]);
  const around = placeValues(names);
  const first = around.length < drafts.length ? placeValues([]) : [];
  const rest = first.length > around.length ? placeNames(toBoxes(first)) : [];
  const isBetter = first.length + rest.length > around.length + names.length;
  return [...slopes, ...(isBetter ? [...rest, ...first] : [...names, ...around]), x];
}

/** @param {(Label|null)[]} labels */
const keepPlaced = (labels) => labels.filter((label) => label !== null);

/** @param {Label[]} labels */
const toBoxes = (labels) => labels.map(({ box }) => box);

/**
 * Make the label of the probe's x between the panels.
 * @param {Values} values @param {Frame} frame @param {import("../scene/grips.js").Grip[]} grips @returns {Label}
 */
function makeXLabel(values, frame, grips) {
  const { forward, gradient } = frame;
  const text = makeText([[{ text: `x = ${formatFourDigits(values.x)}`, colour: "currentColor" }]], frame);
  const handles = placeGrips(grips, frame).map(({ px, aside }) => px + aside);
  const left = placeXLabel(toLeftPx(frame, values.x), text.width / 2, handles, frame) - text.width / 2;
  const top = (forward.top + forward.height + gradient.top - text.height) / 2;
  return {
    ...text,
    box: { left, right: left + text.width, top, bottom: top + text.height },
    side: 0,
    lead: [],
  };
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
 * Make a draft for each distinct gradient at the probe, on either side of its dot. Values whose dots coincide share one.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @returns {Draft[]}
 */
function draftValues(values, lines, frame) {
  const { gradient: panel, left, inner } = frame;
  const gradients = lines.filter((line) => line.panel === "gradient");
  const px = toLeftPx(frame, values.x);
  const upright = Array.from({ length: panel.height }, (_, y) => [px, panel.top + y]);
  const solid = [...traceCurves(gradients, frame, panel).map(({ points }) => points), upright];
  /** @type {{dot: Pixel, parts: Part[]}[]} */
  const dots = [];
  for (const line of gradients) {
    const value = values.gradients[line.rule ?? ""];
    if (value === undefined || (!Number.isNaN(value) && !isInPanel(panel, value))) continue;
    const y = Number.isNaN(value) ? panel.top + panel.height : toTopPx(panel, value); // at the edge, without a dot
    const text = formatFourDigits(value);
    const near = dots.find(({ dot }) => Math.abs(dot[1] - y) < SAME_DOT_PX);
    const known = near?.parts.find((part) => part.text === text);
    if (known) known.colour = "currentColor";
    else if (near) near.parts.push({ text: ", ", colour: "currentColor" }, { text, colour: line.colour });
    else dots.push({ dot: [px, y], parts: [{ text, colour: line.colour }] });
  }
  return dots.map(({ dot, parts }) => {
    const others = dots.filter((other) => other.dot !== dot).map((other) => [other.dot]);
    const around = { spots: [dot], own: [[dot]], others, solid, gap: DOT_PX };
    return { ...makeText([parts], frame), ...around, lean: px > left + inner / 2 ? -1 : 1 };
  });
}

/**
 * Make one label for each distinct slope, next to its tangent.
 * @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g upstream gradient
 */
function makeSlopeLabels(values, lines, frame, g) {
  const { forward: panel } = frame;
  const curves = lines.filter((line) => line.panel === "forward");
  const solid = traceCurves(curves, frame, panel).map(({ points }) => points);
  /** @type {Map<string, {points: Trace, ends: Pixel[], colour: string}>} */
  const tangents = new Map();
  for (const { slope, ends, colour } of getTangents(values, lines, frame, g)) {
    const text = `slope ${formatFourDigits(slope)}`;
    const known = tangents.get(text);
    tangents.set(
      text,
      known ? { ...known, colour: "currentColor" } : { points: sampleLine(ends), ends, colour },
    );
  }
  const middle = [toLeftPx(frame, values.x), toTopPx(panel, values.y)];
  const drafts = [...tangents].map(([text, { points, ends, colour }]) => {
    const traces = [...tangents.values()].map((tangent) => tangent.points);
    const spots = SHARES.flatMap((share) => ends.toReversed().map((end) => mix([middle, end], share)));
    const around = { own: [points], others: traces.filter((trace) => trace !== points), solid };
    return { ...makeText([[{ text, colour }]], frame), ...around, spots, lean: 0 };
  });
  const circles = [makeSquare(middle, KNOB_PX), ...makeRings(curves, frame, panel)];
  return keepPlaced(placeDrafts(drafts, frame, "forward", circles));
}

/** @param {Pixel[]} ends of a tangent */
const sampleLine = (ends) => SAMPLES.map((share) => mix(ends, share));

/**
 * Make the labels with the names of all rules, equal curves in one. A curve is named where it is alone or with few others,
 * rather not with the first curve; if there is no room in its panel, anywhere in the chart with a line to it.
 * @param {Line[]} lines @param {Frame} frame @param {Sketch[]} [sketches] @param {Box[]} [others] boxes of other labels
 * @param {{taken: Box[], solid: Trace[]}} [above] what names do not cover outside the panel; without it they stay inside
 */
export function makeNameLabels(lines, frame, sketches = [], others = [], above) {
  const { gradient: panel } = frame;
  const gradients = lines.filter((line) => line.panel === "gradient");
  const curves = traceCurves(gradients, frame, panel);
  const solid = traceCurves(sketches, frame, panel).map(({ points }) => points);
  const absent = gradients.filter(({ y }) => !Array.from(y).some(Number.isFinite));
  const taken = [...others, ...makeRings(gradients, frame, panel)];
  const groups = curves.map((curve) => listGroups(curve, curves));
  const draft = (/** @type {number} */ at, group = groups[at][0]) => {
    return { ...draftName(curves[at], splitPoints(group, curves), frame), solid };
  };
  const drafts = [
    ...curves.map((_, at) => draft(at)),
    ...absent.map((line) => draftAbsent(line, curves, frame)),
  ];
  const labels = placeDrafts(drafts, frame, "gradient", taken);
  for (const [at, known] of groups.entries())
    for (const group of labels[at] ? [] : known) {
      const [around, next] = [[...taken, ...toBoxes(keepPlaced(labels))], draft(at, group)];
      labels[at] ??= placeDrafts([next], frame, "gradient", around)[0];
      const wide = { ...next, solid: [...solid, ...(above?.solid ?? [])] };
      if (above) labels[at] ??= placeDrafts([wide], frame, "anywhere", [...around, ...above.taken])[0];
      if (solid.length) labels[at] ??= placeDrafts([{ ...next, solid: [] }], frame, "gradient", around)[0];
    }
  return keepPlaced(labels);
}

/**
 * Make a draft for the name of a curve.
 * @param {Curve} curve @param {{own: Trace, others: Trace[]}} points where it is named, and those of all others
 * @param {Frame} frame @returns {Draft}
 */
function draftName({ lines }, { own, others }, frame) {
  const parts = lines.map(({ label = "", colour = "" }, at) => {
    return { text: at < lines.length - 1 ? `${label}, ` : label, colour };
  });
  const isShort = makeText([parts], frame).width <= MAX_SHARE * frame.inner;
  const text = makeText(isShort ? [parts] : parts.map((part) => [part]), frame);
  return { ...text, spots: spaceOut(own, others), own: [own], others, lean: -1 };
}

/**
 * Return points some distance apart and from others, from the last to the first.
 * @param {Trace} points @param {Trace[]} others
 */
function spaceOut(points, others) {
  /** @type {Pixel[]} */
  const spots = [];
  for (const point of points.toReversed()) {
    const isNext = spots.length === 0 || getGap([[point]], makeSquare(spots[spots.length - 1], 0)) >= SPOT_PX;
    if (isNext && getGap(others, makeSquare(point, 0)) >= SPOT_CLEAR_PX) spots.push(point);
  }
  const step = Math.ceil(spots.length / MAX_SPOTS);
  return spots.filter((_, at) => at % step === 0);
}

/**
 * Make a draft for the name of a rule without a finite value, at the right edge of the panel and away from curves.
 * @param {Line} line @param {Curve[]} curves @param {Frame} frame @returns {Draft}
 */
function draftAbsent({ label, colour }, curves, frame) {
  const { left, inner, gradient: panel } = frame;
  const text = makeText([[{ text: `${label}: not finite`, colour }]], frame);
  const spots = SAMPLES.map((share) => [left + inner, panel.top + share * panel.height]);
  const others = curves.map(({ points }) => points);
  return { ...text, spots, own: [spots], others, lean: -1 };
}

/**
 * Place labels in a panel. Returns null for each that has no place.
 * @param {Draft[]} drafts @param {Frame} frame @param {"forward"|"gradient"|"anywhere"} name of the panel, or both
 * @param {Box[]} taken boxes that they do not cover @returns {(Label|null)[]}
 */
function placeDrafts(drafts, frame, name, taken) {
  const [first, last] = name === "anywhere" ? [frame.forward, frame.gradient] : [frame[name], frame[name]];
  const area = {
    left: frame.left,
    right: frame.left + frame.inner,
    top: first.top,
    bottom: last.top + last.height,
  };
  const places = placeLabels(drafts, area, taken, name === "anywhere" ? FAR_LEADS_PX : undefined);
  return places.map((place, at) => place && { ...drafts[at], ...place });
}

/** Return the circles at jumps of lines. @param {Line[]} lines @param {Frame} frame @param {Panel} panel */
function makeRings(lines, frame, panel) {
  return lines.flatMap(({ x, y, closed, open }) =>
    [...closed, ...open].map((at) => makeSquare([toLeftPx(frame, x[at]), toTopPx(panel, y[at])], RING_PX)),
  );
}

/** Return about the width of a text, as a multiple of the font size. @param {string} text */
function measureText(text) {
  const count = (/** @type {RegExp} */ kind) => text.match(kind)?.length ?? 0;
  return LETTER * text.length - 0.2 * count(/[-fijlrt .,:()]/g) + 0.25 * count(/[mwMW]/g);
}

/** Return the text of a label with its font size, width and height in px. @param {Part[][]} rows @param {Frame} frame */
function makeText(rows, frame) {
  const size = Math.max(frame.size, MIN_SIZE);
  const widths = rows.map((row) => row.reduce((sum, { text }) => sum + measureText(text), 0));
  return {
    rows,
    size,
    width: size * Math.max(...widths),
    height: (LINE * (rows.length - 1) + 1) * size,
  };
}

/** Draw a label: a text for each row, and a line to what it names. @param {Label} label @returns {SVGElement[]} */
function drawLabel({ rows, size, box, side, lead }) {
  const x = side < 0 ? box.right : side > 0 ? box.left : (box.left + box.right) / 2;
  const anchor = side < 0 ? "end" : side > 0 ? "start" : "middle";
  const texts = rows.map((row, at) => {
    const y = box.top + (ASCENT + LINE * at) * size;
    const node = shape("text", { x, y, "text-anchor": anchor, "font-size": size, class: "chart-label" });
    for (const { text, colour } of row) {
      const part = shape("tspan");
      part.style.setProperty("--colour", colour);
      part.textContent = text;
      node.append(part);
    }
    return node;
  });
  if (!lead.length) return texts;
  return [shape("path", { d: `M${lead.join("L")}`, class: "chart-lead" }), ...texts];
}
