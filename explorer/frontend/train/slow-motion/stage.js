// Draws one stage of slow motion, with its title and a line of text.

import { updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { paint, toPixel } from "../widgets/canvas.js";
import { makeLinePath } from "../widgets/svg-paths.js";

/** @import { Bars, Curve, Drawing, ColourMap } from "./drawings.js" */
/** A colour as red, green and blue. @typedef {number[]} Colour */
/**
 * The actions of a slow motion stage: a click on a cell of its picture, and a click on the stage itself.
 * @typedef {{onCell: (row: number, unit: number) => void, onStage: (key: string) => void}} On
 */

const LOW = { light: [201, 92, 10], dark: [240, 150, 70] };
const HIGH = { light: [23, 105, 170], dark: [96, 172, 236] };
const NO_NUMBER = [128, 128, 128];
const GAP = 0.16; // opacity of the space between images
const DARK = 128; // a background is dark if its brightness is below this

/** @type {{[kind in Drawing["kind"]]: (frame: HTMLElement, on: On) => {draw: (drawing: *) => void}}} */
const KINDS = { map: createMap, curve: createCurve, bars: createBars };

/** @param {On} on */
export function createStage(on) {
  const title = element("h3", {});
  const frame = element("div", { class: "drawing", role: "img" });
  const note = element("p", {});
  const node = element("section", { class: "of-step" }, title, frame, note);
  node.addEventListener("click", () => node.dataset.time === "coming" && on.onStage(node.dataset.stage));
  let kind = "";
  let painter = /** @type {{draw: (drawing: *) => void}|null} */ (null);
  return {
    element: node,
    /** @param {import("./view-model.js").StagePicture} picture */
    show({ key, title: name, time, way, under, column, note: below, words, drawing }) {
      setText(title, name);
      setAttribute(title, "title", name);
      setText(note, drawing.kind === "map" ? below : drawing.label);
      setAttribute(node, "data-stage", key);
      setAttribute(node, "data-time", time);
      setAttribute(node, "data-way", way);
      setAttribute(node, "data-under", under);
      setAttribute(node, "aria-current", time === "now" ? "step" : null);
      setAttribute(node, "aria-hidden", time === "coming" ? "true" : null);
      setAttribute(node, "style", `grid-column: ${column}`);
      setAttribute(frame, "aria-label", words);
      const isPicked = drawing.kind === "map" && drawing.pick === "cell" && time !== "coming";
      setAttribute(frame, "role", isPicked ? "group" : "img");
      setAttribute(frame, "tabindex", isPicked ? "0" : null);
      if (kind !== drawing.kind) {
        kind = drawing.kind;
        frame.replaceChildren();
        painter = KINDS[drawing.kind](frame, on);
      }
      painter?.draw(drawing);
    },
  };
}

/** @param {HTMLElement} frame @param {On} on */
function createMap(frame, { onCell }) {
  const canvas = element("canvas", {});
  const [row, column] = ["row", "column"].map((name) => element("i", { class: `mark ${name}` }));
  let displayed = /** @type {ColourMap|null} */ (null);
  frame.append(canvas, row, column);
  frame.addEventListener("click", ({ clientX, clientY }) => {
    if (displayed?.pick !== "cell") return;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const toIndex = (/** @type {number} */ part, /** @type {number} */ count) =>
      Math.min(Math.max(Math.floor(part * count), 0), count - 1);
    const [down, across] = [
      toIndex((clientY - top) / height, displayed.rows),
      toIndex((clientX - left) / width, displayed.columns),
    ];
    const { of: source, columns } = displayed;
    if (!source) onCell(down, across);
    else if (source.rows[down * columns + across] >= 0)
      onCell(source.rows[down * columns + across], source.unit);
  });
  return {
    /** @param {ColourMap} map */
    draw(map) {
      displayed = map;
      const { rows, columns, mark, box } = map;
      paint(canvas, columns, rows, createColouring(map, getBackground(canvas)));
      setAttribute(frame, "data-pick", map.pick);
      setAttribute(row, "hidden", mark.row === null);
      setAttribute(column, "hidden", mark.column === null || box);
      const rowStyle = `top: ${toPercent(mark.row ?? 0, rows)}; height: ${toPercent(1, rows)}`;
      const columnStyle = `left: ${toPercent(mark.column ?? 0, columns)}; width: ${toPercent(1, columns)}`;
      setAttribute(row, "style", box ? `${rowStyle}; ${columnStyle}` : rowStyle);
      setAttribute(column, "style", columnStyle);
    },
  };
}

/** @param {number} part @param {number} whole */
function toPercent(part, whole) {
  return `${((100 * part) / whole).toFixed(3)}%`;
}

/**
 * Create a function that returns the colour of a number by its index. The background's colour stands for 0, or for the
 * minimum of an image.
 * @param {ColourMap} map
 * @param {Colour} ground
 * @returns {(at: number) => number}
 */
function createColouring({ values, scale, low }, ground) {
  const theme = ground.reduce((sum, part) => sum + part, 0) / 3 < DARK ? "dark" : "light";
  const ink = theme === "dark" ? [235, 238, 242] : [28, 39, 51];
  const isImage = low !== -scale;
  return (at) => {
    const value = values[at];
    if (value === null) return toOpaquePixel(blendColours(ground, ink, GAP));
    if (Number.isNaN(value)) return toOpaquePixel(NO_NUMBER);
    const part = isImage ? (value - low) / (scale - low || 1) : Math.min(Math.abs(value) / scale, 1);
    return toOpaquePixel(blendColours(ground, isImage ? ink : value < 0 ? LOW[theme] : HIGH[theme], part));
  };
}

/** @param {Colour} one @param {Colour} other @param {number} part weight of the other colour */
function blendColours(one, other, part) {
  return one.map((value, index) => Math.round(value + (other[index] - value) * part));
}

/** @param {Colour} colour */
function toOpaquePixel([red, green, blue]) {
  return toPixel(red, green, blue, 255);
}

/** Return the background colour behind an element. @param {Element} node */
function getBackground(node) {
  const dialog = /** @type {Element} */ (node.closest("dialog"));
  return (getComputedStyle(dialog).backgroundColor.match(/\d+/g) ?? []).slice(0, 3).map(Number);
}

/** Paint the colour scale from its lowest to its highest number. @param {HTMLCanvasElement} canvas */
export function paintScale(canvas) {
  const values = Array.from({ length: 41 }, (_, at) => at / 20 - 1);
  paint(
    canvas,
    values.length,
    1,
    createColouring(/** @type {*} */ ({ values, scale: 1, low: -1 }), getBackground(canvas)),
  );
}

/** @param {HTMLElement} frame */
function createCurve(frame) {
  const names = ["ticks", "zero", "stands", "curve"];
  const [ticks, zero, stands, line] = names.map((name) => shape("path", { class: name }));
  const svg = shape("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none" });
  svg.append(ticks, zero, stands, line);
  const dot = element("i", { class: "dot" });
  const ends = ["", ""].map(() => element("small", {}));
  frame.append(svg, dot, ...ends);
  return {
    /** @param {Curve} curve */
    draw({ points, at, ticks: rows, zero: nought, colour, ends: texts }) {
      const toY = (/** @type {number} */ y) => Math.round(1000 * (1 - y));
      const toX = (/** @type {number} */ x) => Math.round(1000 * x);
      setAttribute(frame, "style", colour ? `--colour: ${colour}` : null);
      setAttribute(ticks, "d", rows.map((x) => `M${toX(x)},955V998`).join(""));
      setAttribute(zero, "d", `M0,${toY(nought)}H1000`);
      setAttribute(stands, "d", `M${toX(at.x)},0V1000`);
      setAttribute(line, "d", makeLinePath(points));
      setAttribute(dot, "style", `left: ${toPercent(at.x, 1)}; top: ${toPercent(1 - at.y, 1)}`);
      ends.forEach((end, side) => setText(end, texts[side]));
    },
  };
}

/** @param {HTMLElement} frame */
function createBars(frame) {
  return {
    /** @param {Bars} bars */
    draw: ({ bars }) => updateChildren(frame, bars, createBar, drawBar),
  };
}

function createBar() {
  const track = element("span", {}, element("i", { class: "bar" }), element("i", { class: "target" }));
  return element("div", { class: "output" }, track, element("b", {}));
}

/** @param {Element} node @param {Bars["bars"][number]} bar */
function drawBar(node, { name, from, to, target, right }) {
  const [track, label] = node.children;
  const [bar, mark] = track.children;
  setAttribute(node, "data-right", right ? "true" : null);
  setText(label, name);
  setAttribute(bar, "style", `bottom: ${toPercent(from, 1)}; height: ${toPercent(to - from, 1)}`);
  setAttribute(mark, "hidden", target === null);
  setAttribute(mark, "style", `bottom: ${toPercent(target ?? 0, 1)}`);
}
