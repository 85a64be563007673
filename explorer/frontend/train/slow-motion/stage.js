// The drawing of slow motion's stages: each with a title and a line of text.

import { blendColours, readColour } from "../../elements/colours.js";
import { h } from "../../elements/render.js";
import { paint, toPixel } from "../../elements/canvas.js";
import { drawPaths, makeLinePath } from "../widgets/svg-paths.js";

/** @import { Bars, Curve, Drawing, ColourMap } from "./drawings.js" */
/** @import { Colour } from "../../elements/colours.js" */
/**
 * Callbacks of a stage. ``onCell``: called when a cell is pressed; ``onStage``: called when a later stage is pressed.
 * @typedef {{onCell: (row: number, unit: number) => void, onStage: (key: string) => void}} On
 */

const TOKENS = ["ground", "ink", "negative", "positive", "neutral"];
const GAP = 0.16; // opacity of the gaps between images

/** @type {{[kind in Drawing["kind"]]: (drawing: *) => import("../../elements/render.js").Child}} */
const KINDS = { map: drawMap, curve: drawCurve, bars: drawBars };

/**
 * Draw one stage. Afterwards, ``paintMaps`` paints its canvas.
 * @param {import("./view-model.js").StagePicture} stage @param {On} on
 */
export function drawStage(
  { key, title, time, way, under, column, note, words, drawing },
  { onCell, onStage },
) {
  const map = drawing.kind === "map" ? drawing : null;
  const isPicked = map?.pick === "cell" && time !== "coming";
  const section = {
    class: "of-step",
    "data-stage": key,
    "data-time": time,
    "data-way": way,
    "data-under": under,
    "aria-current": time === "now" ? "step" : null,
    "aria-hidden": time === "coming" ? "true" : null,
    style: `grid-column: ${column}`,
    onclick: () => time === "coming" && onStage(key),
  };
  const frame = {
    class: "drawing",
    "aria-label": words,
    role: isPicked ? "group" : "img",
    tabindex: isPicked ? "0" : null,
    "data-pick": map?.pick,
    "--colour": drawing.kind === "curve" ? drawing.colour : "",
    onclick: (/** @type {MouseEvent} */ event) => map?.pick === "cell" && pickCell(map, event, onCell),
  };
  const below = drawing.kind === "map" ? note : drawing.label;
  return h(
    "section",
    section,
    h("h3", { title }, title),
    h("div", frame, KINDS[drawing.kind](drawing)),
    h("p", {}, below),
  );
}

/** Paint all canvases of the dialog, and its colour scale. @param {Element} dialog @param {Drawing[]} drawings */
export function paintMaps(dialog, drawings) {
  const maps = /** @type {ColourMap[]} */ (drawings.filter(({ kind }) => kind === "map"));
  const values = Array.from({ length: 41 }, (_, at) => at / 20 - 1);
  const scale = { values, rows: 1, columns: values.length, scale: 1, low: -1 };
  const [ground, ink, negative, positive, neutral] = TOKENS.map((token) => readColour(dialog, token));
  dialog.querySelectorAll("canvas").forEach((canvas, at) => {
    const map = maps[at] ?? scale;
    paint(canvas, map.columns, map.rows, createColouring(map, { ground, ink, negative, positive, neutral }));
  });
}

/** @param {ColourMap} map @param {MouseEvent} event @param {On["onCell"]} onCell */
function pickCell({ rows, columns, of: source }, { clientX, clientY, currentTarget }, onCell) {
  const canvas = /** @type {Element} */ (/** @type {Element} */ (currentTarget).querySelector("canvas"));
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const toIndex = (/** @type {number} */ part, /** @type {number} */ count) =>
    Math.min(Math.max(Math.floor(part * count), 0), count - 1);
  const down = toIndex((clientY - top) / height, rows);
  const across = toIndex((clientX - left) / width, columns);
  const row = source?.rows[down * columns + across] ?? down;
  if (row >= 0) onCell(row, source?.unit ?? across);
}

/** Draw a canvas for numbers, with marks at the displayed row and column. @param {ColourMap} map */
function drawMap({ rows, columns, mark: { row, column }, box }) {
  const rowStyle = `top: ${toPercent(row ?? 0, rows)}; height: ${toPercent(1, rows)}`;
  const columnStyle = `left: ${toPercent(column ?? 0, columns)}; width: ${toPercent(1, columns)}`;
  const style = box ? `${rowStyle}; ${columnStyle}` : rowStyle;
  return [
    h("canvas"),
    row !== null && h("i", { class: "mark row", style }),
    column !== null && !box && h("i", { class: "mark column", style: columnStyle }),
  ];
}

/** @param {number} part @param {number} whole */
function toPercent(part, whole) {
  return `${((100 * part) / whole).toFixed(3)}%`;
}

/**
 * Return a function that maps the index of a number to its pixel. 0, or the minimum of an image, looks like background.
 * @param {Pick<ColourMap, "values"|"scale"|"low">} map
 * @param {{[token in "ground"|"ink"|"negative"|"positive"|"neutral"]: Colour}} colours
 * @returns {(at: number) => number}
 */
function createColouring({ values, scale, low }, { ground, ink, negative, positive, neutral }) {
  const isImage = low !== -scale;
  return (at) => {
    const value = values[at];
    if (value === null) return toOpaquePixel(blendColours(ground, ink, GAP));
    if (Number.isNaN(value)) return toOpaquePixel(neutral);
    const part = isImage ? (value - low) / (scale - low || 1) : Math.min(Math.abs(value) / scale, 1);
    return toOpaquePixel(blendColours(ground, isImage ? ink : value < 0 ? negative : positive, part));
  };
}

/** @param {Colour} colour */
function toOpaquePixel([red, green, blue]) {
  return toPixel(red, green, blue, 255);
}

/** @param {Curve} curve */
function drawCurve({ points, at, ticks, zero, ends }) {
  const toUnits = (/** @type {number} */ part) => Math.round(1000 * part);
  const paths = {
    ticks: ticks.map((x) => `M${toUnits(x)},955V998`).join(""),
    zero: `M0,${toUnits(1 - zero)}H1000`,
    stands: `M${toUnits(at.x)},0V1000`,
    curve: makeLinePath(points),
  };
  return [
    drawPaths(paths),
    h("i", { class: "dot", style: `left: ${toPercent(at.x, 1)}; top: ${toPercent(1 - at.y, 1)}` }),
    ends.map((end) => h("small", {}, end)),
  ];
}

/** @param {Bars} bars */
function drawBars({ bars }) {
  return bars.map(({ name, from, to, target, right }) => {
    const style = `bottom: ${toPercent(from, 1)}; height: ${toPercent(to - from, 1)}`;
    const mark = target !== null && h("i", { class: "target", style: `bottom: ${toPercent(target, 1)}` });
    const track = h("span", {}, h("i", { class: "score", style }), mark);
    return h("div", { class: "output", "data-right": right ? "true" : null }, track, h("b", {}, name));
  });
}
