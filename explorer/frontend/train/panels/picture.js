// Draws the pictures of measurements from generic blocks, such as bars and images, that Python sends.

import { h } from "../../elements/render.js";
import { formatShare, formatShort } from "../../formula/numbers.js";
import { layOutHistogram } from "../widgets/histogram.js";
import { paintDots, paintImage } from "../widgets/image.js";
import { makeBarPath, makeLinePath, share } from "../widgets/svg-paths.js";

const DASHES = [null, "2 3", "6 4", "8 3 2 3", "12 4"]; // of the line of each layer

/** @import { Child } from "../../elements/render.js" */
/** @import { Picture } from "./panels.js" */
/** A block of a picture, such as bars, as data from Python. ``kind`` names it. @typedef {Object<string, *>} Block */
/** A function that paints a canvas. @typedef {(canvas: HTMLCanvasElement) => void} Paint */
/**
 * The context in which a block is drawn. ``picture``: the whole picture; ``canvas``: returns a canvas that is painted
 * once it is on the page; ``pick``: called with the index of the example whose image is pressed.
 * @typedef {{picture: Picture, canvas: (paint: Paint) => Child, pick: (example: number) => void}} Around
 */

/** @type {{[kind: string]: (block: *, around: Around) => Child}} */
const KINDS = {
  note: ({ text }) => h("p", { class: "note text-small" }, text),
  // Bars with name and text, in fractions of the longest bar.
  bars: ({ bars }) =>
    bars.map((/** @type {[string, string, number]} */ [name, text, length]) =>
      h(
        "div",
        { class: "layer-bar" },
        h("span", {}, name),
        h("span", { class: "bar-of-layer" }, h("i", { style: `width:${toPercent(length)}` })),
        h("span", {}, text),
      ),
    ),
  stack: ({ parts }) => h("div", { class: "stack" }, parts.map(makeHalves)),
  // Levels from 0 to 1, with their percentages as tooltips.
  strip: ({ levels, name, meaning }) =>
    h(
      "div",
      { class: "by-channel" },
      Array.from(levels, (level, at) =>
        h(
          "span",
          { title: `${name} ${at + 1}: ${formatShare(level)} ${meaning}` },
          h("i", { style: `height:${toPercent(level)}` }),
        ),
      ),
    ),
  // A bar for each level from 0 to 1, with its number; one bar is highlighted.
  outputs: ({ levels, chosen }) =>
    h(
      "div",
      { class: "outputs" },
      Array.from(levels, (level, at) =>
        h(
          "span",
          { class: at === chosen && "read", "--level": level.toFixed(3) },
          h("i"),
          h("b", {}, `${at}`),
        ),
      ),
    ),
  example: (block, { picture, canvas }) =>
    h(
      "div",
      { class: "of-example flex-row" },
      canvas((node) => paintImage(node, block, picture.ink)),
      h("p", { class: "note text-small" }, block.text),
    ),
  // Images with captions, which keep their proportions if they fit.
  row: ({ images, fits }, { picture, canvas }) =>
    h(
      "div",
      { class: fits ? "blocks of-maps" : "blocks" },
      images.map((/** @type {import("../widgets/image.js").Image} */ image) =>
        h(
          "div",
          {},
          canvas((node) => paintImage(node, image, picture.ink)),
          h("span", {}, image.caption),
        ),
      ),
    ),
  tiles: (block, around) =>
    h(
      "div",
      { class: "misread" },
      Array.from(block.examples, (_, at) => makeTile(block, at, around)),
    ),
  plane: (block, { picture, canvas }) =>
    h(
      "div",
      { class: "plane" },
      canvas((node) => paintImage(node, block, picture.ink)),
      canvas((node) => paintDots(node, block)),
    ),
  histogram: drawHistogram,
  lines: drawLines,
  group: ({ name, text, blocks }, around) =>
    h(
      "div",
      { class: "learned-one" },
      h("p", {}, h("code", {}, name), h("span", {}, ` = ${text}`)),
      drawBlocks(blocks, around),
    ),
};

/**
 * Draw a picture as the children of an element. Afterwards, ``paintCanvases`` paints its canvases.
 * @param {Picture} picture @param {Paint[]} paints an array to which a function is added for each canvas
 * @param {(example: number) => void} [pick] called with the index of the example whose image is pressed
 */
export function drawPicture(picture, paints, pick = () => undefined) {
  const canvas = (/** @type {Paint} */ paint) => {
    paints.push(paint);
    return h("canvas");
  };
  return drawBlocks(picture.blocks, { picture, canvas, pick });
}

/** Paint an element's canvases. @param {Element} host @param {Paint[]} paints functions in the canvases' order */
export function paintCanvases(host, paints) {
  host.querySelectorAll("canvas").forEach((canvas, at) => paints[at](canvas));
}

/** @param {Block[]} blocks @param {Around} around */
function drawBlocks(blocks, around) {
  return blocks.map((block) => KINDS[block.kind](block, around));
}

/**
 * Return one part of a stacked bar as two segments, the second one hatched.
 * @param {[number, number, string]} part the size of the part, the size of its hatched segment, and its label
 * @param {number} index
 */
function makeHalves([size, hatched, text], index) {
  const make = (/** @type {string} */ kind, /** @type {number} */ own, /** @type {boolean} */ named) =>
    h(
      "span",
      { class: `cause-${index} ${kind}`, style: `flex-grow:${Math.max(own, 0).toFixed(4)}` },
      named && text && h("b", {}, text),
    );
  const isHatched = hatched > size - hatched;
  return [make("some", size - hatched, !isHatched), make("every", hatched, isHatched)];
}

/**
 * Return one image with its class and the net's prediction. It is a button if another panel has details.
 * @param {*} block @param {number} at index of the image @param {Around} around
 */
function makeTile({ images, width, classes, answers, marked, examples }, at, { picture, canvas, pick }) {
  const image = images.subarray(at * width ** 2, (at + 1) * width ** 2);
  const title = `${classes[at]} read as ${answers[at]}`;
  const button = {
    "aria-label": `Example ${examples[at] + 1}, ${title}`,
    "aria-pressed": String(examples[at] === picture.picked),
    onclick: () => pick(examples[at]),
  };
  const isButton = picture.picked !== null;
  return h(
    isButton ? "button" : "div",
    { title, class: `bare${marked[at] === 1 ? " only" : ""}`, ...(isButton ? button : {}) },
    canvas((node) => paintImage(node, { image, width, caption: "" }, picture.ink)),
    h("span", {}, `${classes[at]}→${answers[at]}`),
  );
}

/**
 * Draw a histogram, with the rule's curve over it if the block has one. Later parts are more opaque.
 * @param {import("../widgets/histogram.js").Histogram} block @param {Around} around
 */
function drawHistogram(block, { picture }) {
  const { parts, curve, zero, most } = layOutHistogram(block, block.curve ? picture.curve : []);
  const last = parts.length - 1;
  const ticks = block.ticks.map((tick) => h("span", {}, tick));
  const bars = parts.map((bars, part) =>
    h("path", {
      class: "data",
      d: bars.map(makeBarPath).join(""),
      opacity: last ? String(0.3 + (0.7 * part) / last) : null,
    }),
  );
  const lines = block.curve && [
    makePath("zero", makeLevelPath(zero)),
    makePath("curve", makeLinePath(curve)),
  ];
  return [
    makeFrame({ class: block.strong && "strong" }, [bars, lines], {
      most: most === null ? "" : `gradient ${formatShort(most)}`,
    }),
    h("div", { class: "axis" }, ticks),
  ];
}

/**
 * Draw a line for each layer over the steps, and bands, on a y axis with labelled ends.
 * @param {*} block @param {Around} around
 */
function drawLines({ lines, bands, ends, most, least, height }, { picture: { steps } }) {
  const last = steps[steps.length - 1] || 1;
  const pointsOf = (/** @type {ArrayLike<number>} */ values) =>
    Array.from(values, (y, at) => ({ x: steps[at] / last, y: share(y, ends[0], ends[1]) }));
  const zero = share(0, ends[0], ends[1]);
  const areas = bands.map((/** @type {ArrayLike<number>[]} */ [low, high]) => {
    const outline = [...pointsOf(low), ...pointsOf(high).reverse()];
    const d = makeLinePath(outline.filter(({ y }) => Number.isFinite(y)));
    return h("path", { d, fill: "currentcolor", "fill-opacity": 0.15 });
  });
  const curves = lines.map((/** @type {ArrayLike<number>} */ values, /** @type {number} */ layer) =>
    h("path", { class: "curve", "stroke-dasharray": DASHES[layer], d: makeLinePath(pointsOf(values)) }),
  );
  const paths = [areas, zero >= 0 && zero <= 1 && makePath("zero", makeLevelPath(zero)), curves];
  return makeFrame({}, paths, { most, least }, `height:${height}rem`);
}

/**
 * @param {Object<string, *>} attributes attributes of the drawing @param {Child[]} paths
 * @param {Object<string, string>} labels texts by CSS class @param {string} [style] the frame's inline style
 */
function makeFrame(attributes, paths, labels, style) {
  const drawing = h("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none", ...attributes }, paths);
  const texts = Object.entries(labels).map(([name, text]) => h("span", { class: name }, text));
  return h("div", { class: "frame", style }, drawing, texts);
}

/** @param {string} name its CSS class @param {string} d */
function makePath(name, d) {
  return h("path", { class: name, d });
}

/** @param {number} y */
function makeLevelPath(y) {
  return makeLinePath([0, 1].map((x) => ({ x, y })));
}

/** @param {number} share */
function toPercent(share) {
  return `${(100 * share).toFixed(1)}%`;
}
