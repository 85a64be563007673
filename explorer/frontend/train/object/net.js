// The drawing of the forward pass of one example: inputs, weights as images, the op with its values, and outputs.

import { paintGrey } from "../../elements/canvas.js";
import { h, render } from "../../elements/render.js";
import { clampTo, formatShare, formatShort } from "../../formula/numbers.js";
import { paintCanvases } from "../panels/picture.js";
import { drawPaths, makeLinePath, share } from "../widgets/svg-paths.js";
import { paintImage } from "../widgets/image.js";
import { shortenNames } from "./names.js";

/** @import { Child, Part } from "../../elements/render.js" */
/** @import { Paint } from "../panels/picture.js" */
/** @import { Forward } from "./view-model.js" */
/** @import { Plate } from "./plates.js" */

const MAX_NUMBERED = 12; // outputs of more classes are not labelled
const MAX_NAMED = 4; // columns or classes of a table with names next to their bars
const [MAX_INPUT_NAMES, MAX_ROW_NAMES] = [22, 60]; // maximum letters in a list of a table's columns
const ROOF = 0.9; // fraction of the drawing's height for the values

/** Returns a canvas that is painted once it is on the page. @typedef {(paint: Paint) => Part} Canvas */

/**
 * Create the drawing of the forward pass.
 * @param {HTMLElement} host @param {() => void} onFold called to show or hide the middle layers
 */
export function createNet(host, onFold) {
  return {
    /** @param {Forward|null} forward null shows an empty drawing */
    show(forward) {
      host.toggleAttribute("data-empty", !forward);
      if (!forward) return;
      const paints = /** @type {Paint[]} */ ([]);
      const canvas = (/** @type {Paint} */ paint) => {
        paints.push(paint);
        return h("canvas");
      };
      host.style.setProperty("--lead", forward.colour || "var(--line)");
      const parts = forward.plates.flatMap((plate, at) => [
        at > 0 && h("i", { key: `to ${plate.kind} ${plate.layer}`, class: "onward" }),
        DRAWINGS[plate.kind](forward, plate, canvas, onFold),
      ]);
      render(host, parts);
      paintCanvases(host, paints);
    },
  };
}

/**
 * Return a part of the net as a figure with a caption.
 * @param {Plate} plate @param {string|null} title @param {Part} drawing @param {...Child} caption
 */
function drawPlate({ kind, layer }, title, drawing, ...caption) {
  const look = { key: `${kind} ${layer}`, class: `plate of-${kind === "fold" ? "folded" : kind}`, title };
  return h("figure", look, drawing, h("figcaption", {}, caption));
}

/** @type {{[kind in Plate["kind"]]: (forward: Forward, plate: Plate, canvas: Canvas, onFold: () => void) => Part}} */
const DRAWINGS = {
  inputs({ record: { inputs, of, side, labels }, ink }, plate, canvas) {
    const isNamed = of <= MAX_NAMED && labels.inputs.length === of;
    const bars = isNamed
      ? drawNamedBars(Array.from(inputs), labels.inputs)
      : drawPaths({ "axis-line": "M0,500H1000", bars: formatBars(inputs) });
    const drawing = side ? canvas((node) => paintGrey(node, scaleToBytes(inputs), side, ink)) : bars;
    const all = side ? `${of} pixels` : `${of.toLocaleString("en-US")} input${of === 1 ? "" : "s"}`;
    const named = isNamed ? "" : shortenNames(labels.inputs, MAX_INPUT_NAMES);
    const caption = named || (inputs.length < of ? `${inputs.length} of ${all}` : all);
    const title = labels.inputs.join(", ") || null;
    return drawPlate(plate, title, h("div", { class: "framed" }, drawing), h("span", {}, caption));
  },
  weights({ record, of, ink }, plate, canvas) {
    const { layer } = plate;
    const rows = layer === 0 && shortenNames(record.labels.inputs, MAX_ROW_NAMES);
    const colours = of ? `The weights of ${of}: teal above 0, olive below` : "Blue above 0, orange below";
    const title = rows ? `${colours}; rows from the top: ${rows}` : colours;
    const owner = h("span", { class: "whose" }, layer === 0 && of && ` of ${of}`);
    const drawing = canvas((node) => paintImage(node, record.weights[layer], ink));
    return drawPlate(plate, title, drawing, h("span", {}, `w${layer + 1}`, owner));
  },
  op({ record, curve, ends, op }, plate) {
    const { x, y } = record.dots[plate.layer];
    const toY = makeHeightScale([...curve.map((point) => point.y), ...y]);
    const place = (/** @type {{x: number, y: number}} */ point) => ({
      x: share(point.x, ...ends),
      y: toY(point.y),
    });
    const points = Array.from(x, (value, at) => place({ x: value, y: y[at] }));
    const dots = points.flatMap((dot) => (dot.x >= 0 && dot.x <= 1 ? [drawDot(dot)] : []));
    const drawing = drawPaths({ curve: makeLinePath(curve.map(place)) }, h("g", { class: "dots" }, dots));
    return drawPlate(plate, op, drawing, h("span", {}, op));
  },
  fold(_forward, plate, _canvas, onFold) {
    const { folded, layer } = plate;
    const text = `w${layer + 1}${folded > 1 ? `–w${layer + folded}` : ""} +\u00a0op`;
    const name = { "aria-expanded": "false", "aria-label": `${text} in the middle: show each` };
    const button = h("button", { class: "fold text-small", ...name, onclick: onFold }, text);
    return drawPlate(plate, null, button, h("span"));
  },
  outputs({ record, canFold, open }, plate, _canvas, onFold) {
    const { target, labels } = record;
    const caption = target === null ? labels.target || "outputs" : `which ${labels.target || "class"}?`;
    const state = { "aria-expanded": "true", hidden: !(canFold && open), onclick: onFold };
    const fold = h("button", { class: "fold text-small", ...state }, "Fold");
    const bars = target === null ? drawValues(record) : drawChances(record);
    return drawPlate(plate, null, bars, h("span", {}, caption), fold);
  },
};

/** @param {{x: number, y: number}} dot in fractions of the drawing */
function drawDot({ x, y }) {
  return h("ellipse", { rx: 22, ry: 22, cx: Math.round(1000 * x), cy: Math.round(1000 * (1 - y)) });
}

/** Scale numbers linearly to bytes: 0 for the minimum, 255 for the maximum. @param {ArrayLike<number>} numbers */
function scaleToBytes(numbers) {
  const all = Array.from(numbers);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return Uint8Array.from(all, (each) => Math.round((255 * (each - low)) / (high - low || 1)));
}

/** Format numbers as bars above and below a level line. @param {ArrayLike<number>} numbers */
function formatBars(numbers) {
  const all = Array.from(numbers);
  const max = Math.max(...all.map(Math.abs)) || 1;
  const subpaths = all.map((value, at) => {
    const [left, right] = [0.15, 0.85].map((x) => Math.round((1000 * (at + x)) / all.length));
    return `M${left},500V${Math.round(500 - (480 * value) / max)}H${right}V500Z`;
  });
  return subpaths.join("");
}

/** Draw numbers as bars from the middle, with their names. @param {number[]} numbers @param {string[]} names */
function drawNamedBars(numbers, names) {
  const max = Math.max(...numbers.map(Math.abs)) || 1;
  const bars = numbers.map((value, at) => {
    const ends = [0.5, 0.5 + (0.48 * value) / max].sort((one, other) => one - other);
    return drawOutput({ title: names[at] }, ends, null, names[at]);
  });
  return h("div", { class: "chances named" }, bars);
}

/**
 * Return a function that maps values to fractions of a drawing's height, so that 0 and all given values fit.
 * @param {number[]} values
 */
function makeHeightScale(values) {
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite, 0), Math.max(...finite, 0)];
  const room = (1 - ROOF) / 2;
  return (/** @type {number} */ value) => room + ROOF * share(value, low, high === low ? low + 1 : high);
}

/**
 * Draw the predicted probability of each class as a bar, and highlight the right class.
 * @param {*} record a measurement by the instrument "net"
 */
function drawChances({ outputs, target, labels: { names } }) {
  const isNamed = outputs.length <= (names.length ? MAX_NAMED : MAX_NUMBERED);
  const nameOf = (/** @type {number} */ at) => names[at] ?? String(at);
  const bars = Array.from(outputs, (value, at) => {
    const title = names.length ? `${nameOf(at)}: ${formatShare(value)}` : null;
    const look = { class: at === target && "wanted", title };
    return drawOutput(look, [0, Math.min(Math.abs(value), 1)], null, isNamed && nameOf(at));
  });
  const look = isNamed && names.length ? "chances named" : "chances";
  return h("div", { class: look, title: `The chance of each class; right is ${nameOf(target)}` }, bars);
}

/**
 * Draw each output as a bar from 0, with a line at its target.
 * @param {*} record a measurement by the instrument "net"
 */
function drawValues({ outputs, aim, labels: { target, unit } }) {
  const toTable = (/** @type {number} */ value) => unit[0] + unit[1] * value;
  const [all, aims] = [Array.from(outputs, toTable), Array.from(aim, toTable)];
  const bounds = [0, ...all, ...aims].filter(Number.isFinite);
  const [low, high] = [Math.min(...bounds), Math.max(...bounds)];
  const toY = (/** @type {number} */ value) => clampTo(share(value, low, high > low ? high : low + 1), 0, 1);
  const bars = all.map((value, at) => {
    const ends = [toY(0), toY(value)].sort((one, other) => one - other);
    const text = target && `${formatShort(value)}, true ${formatShort(aims[at])}`;
    return drawOutput({}, ends, toY(aims[at]), text);
  });
  const title = "The numbers of the net as bars; a line marks each target";
  return h("div", { class: "chances", title }, bars);
}

/**
 * Draw the bar of an output, and a line at its target. All numbers are fractions of the height.
 * @param {Part["attributes"]} look @param {number[]} ends of the bar @param {number|null} target the target, or
 *   null for no line
 * @param {Child} text
 */
function drawOutput(look, [low, high], target, text) {
  const bar = h("i", { "--from": toPercent(low), "--length": toPercent(high - low) });
  const line = target !== null && h("u", { "--from": toPercent(target) });
  return h("span", look, h("em", {}, bar, line), h("b", {}, text));
}

const toPercent = (/** @type {number} */ part) => `${(100 * part).toFixed(1)}%`;
