// Labels in place of a legend: the slope that each tangent claims, the x of the probe, and at each gradient's end its
// rule with the value at the probe.

import { across, down } from "../scene/panels.js";
import { shape } from "../../elements/svg.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { tangentsOf, valueOn } from "./probe-marks.js";

/** @import { Frame } from "../scene/panels.js" */
/** @import { Line } from "../scene/traces.js" */
/** @import { Values } from "./probe-values.js" */
/** A word or more in a colour. @typedef {{text: string, colour: string}} Part */
/** A text with its baseline in px. @typedef {{parts: Part[], x: number, y: number, anchor: "start"|"middle"|"end"}} Label */
/** The end of a gradient's curve in px from the top, with its rule and its value at the probe. @typedef {{label: string, colour: string, value: string, y: number}} End */

const APART = 1.25; // heights of letters from one label to the next
const [ABOVE, BELOW] = [0.6, 1.3]; // heights of letters from a line to the baseline of a label beside it
const BESIDE_PX = 6; // from the end of a line to its label
const WIDEST = 6; // heights of letters that "slope −1.234" takes
const LETTER = 0.56; // of its height: the width of a letter on average
const MOST = 0.4; // of the chart's width: a label of several rules
const TOGETHER_PX = 1; // between ends that are one

/**
 * @param {Values} values
 * @param {Line[]} lines
 * @param {Frame} frame
 * @param {number} g
 * @returns {SVGElement[]}
 */
export function labelShapes(values, lines, frame, g) {
  const labels = [...slopeLabels(values, lines, frame, g), ...endLabels(values, lines, frame)];
  const { forward, gradient, size, x: view } = frame;
  const isInView = values.x >= view[0] && values.x <= view[1];
  const between = (forward.top + forward.height + gradient.top + size) / 2 - 2;
  const at = {
    parts: [{ text: `x = ${formatFourDigits(values.x)}`, colour: "currentColor" }],
    x: across(frame, values.x),
    y: between,
  };
  return [...labels, ...(isInView ? [/** @type {Label} */ ({ ...at, anchor: "middle" })] : [])].map(drawn);
}

/** The slopes at the ends of the tangents, each number once. @param {Values} values @param {Line[]} lines @param {Frame} frame @param {number} g */
function slopeLabels(values, lines, frame, g) {
  const { left, inner, forward, size } = frame;
  /** @type {Map<string, Label>} */
  const labels = new Map();
  for (const { slope, ends, colour } of tangentsOf(values, lines, frame, g)) {
    const text = `slope ${formatFourDigits(slope)}`;
    const known = labels.get(text);
    const fits = ends[1][0] + BESIDE_PX + WIDEST * size < left + inner;
    const [x, y] = ends[fits ? 1 : 0];
    const place = { x: x + (fits ? BESIDE_PX : -BESIDE_PX), y: y - ABOVE * size }; // the op may go on there
    const parts = [{ text, colour: known ? "currentColor" : colour }];
    labels.set(text, { parts, ...place, anchor: fits ? "start" : "end" });
  }
  return apart([...labels.values()], forward, size);
}

/** @param {Values} values @param {Line[]} lines @param {Frame} frame */
function endLabels(values, lines, frame) {
  const { left, inner, gradient, size } = frame;
  const ends = lines
    .filter(({ panel }) => panel === "gradient")
    .map((line) => {
      const last = Array.from(line.y).findLast(Number.isFinite) ?? 0;
      const value = valueOn(line, values);
      const { label, colour } = line;
      return {
        label,
        colour,
        value: Number.isNaN(value) ? "" : formatFourDigits(value),
        y: down(gradient, last),
      };
    });
  const x = left + inner - BESIDE_PX;
  const labels = together(ends, (MOST * inner) / (LETTER * size)).map(({ y, parts }) => {
    return { parts, x, y, anchor: /** @type {const} */ ("end") };
  });
  return besideEnds(
    labels,
    ends.map(({ y }) => y),
    gradient,
    size,
  );
}

/**
 * The texts of ends: rules that end at one height with one value share a text, as long as it is not too long.
 * @param {End[]} ends
 * @param {number} most letters of a text
 * @returns {{y: number, parts: Part[]}[]}
 */
export function together(ends, most) {
  /** @type {{y: number, value: string, ends: End[]}[]} */
  const groups = [];
  for (const end of ends) {
    const fits = (/** @type {End[]} */ others) => lengthOf([...others, end]) <= most;
    const alike = (/** @type {{y: number, value: string}} */ { y, value }) =>
      Math.abs(y - end.y) <= TOGETHER_PX && value === end.value;
    const group = groups.find((each) => alike(each) && fits(each.ends));
    if (group) group.ends.push(end);
    else groups.push({ y: end.y, value: end.value, ends: [end] });
  }
  return groups.map(({ y, value, ends: its }) => {
    const last = its.length - 1;
    const after = (/** @type {number} */ at) => (at < last ? ", " : value && `: ${value}`);
    return { y, parts: its.map(({ label, colour }, at) => ({ text: label + after(at), colour })) };
  });
}

/** @param {End[]} ends */
function lengthOf(ends) {
  return ends.reduce((sum, { label }) => sum + label.length + 2, 0);
}

/**
 * Labels at the ends of curves, each as near its own as it can be and on none of them: above, else below, and where
 * many end at one height one after the other.
 * @param {Label[]} labels with the end in place of the baseline
 * @param {number[]} ends in px from the top
 * @param {import("../scene/panels.js").Panel} panel
 * @param {number} size of letters
 */
export function besideEnds(labels, ends, { top, height }, size) {
  const [above, below] = [ABOVE * size, BELOW * size]; // from an end to a baseline beside it
  const isFree = (/** @type {number} */ y) =>
    y >= top + size &&
    y <= top + height - size / 4 &&
    ends.every((end) => y <= end - above + 0.5 || y >= end + below - 0.5) &&
    taken.every((other) => Math.abs(y - other) >= APART * size - 0.5);
  /** @type {number[]} */
  const taken = [];
  const steps = Array.from({ length: 4 * labels.length }, (_, step) => step * (APART * size) * 0.5);
  for (const label of labels) {
    const end = label.y;
    const places = steps.flatMap((step) => [end - above - step, end + below + step]);
    label.y = places.find(isFree) ?? Math.max(end - above, top + size);
    taken.push(label.y);
  }
  return labels;
}

/**
 * Labels within a panel, none on another.
 * @param {Label[]} labels
 * @param {import("../scene/panels.js").Panel} panel
 * @param {number} size of letters
 */
function apart(labels, { top, height }, size) {
  const sorted = labels.toSorted((one, other) => one.y - other.y);
  let least = top + size;
  for (const label of sorted) {
    label.y = Math.max(label.y, least);
    least = label.y + APART * size;
  }
  let most = top + height - size / 4;
  for (const label of sorted.toReversed()) {
    label.y = Math.min(label.y, most);
    most = label.y - APART * size;
  }
  return sorted;
}

/** @param {Label} label */
function drawn({ parts, x, y, anchor }) {
  const node = shape("text", { x, y, "text-anchor": anchor, class: "chart-label" });
  for (const { text, colour } of parts) {
    const part = shape("tspan");
    part.style.setProperty("--colour", colour);
    part.textContent = text;
    node.append(part);
  }
  return node;
}
