// Images on canvases, with examples as dots on them.

import { blendColours, readFixedColour } from "../../elements/colours.js";
import { areEqual, paint, toPixel } from "../../elements/canvas.js";
import { arrangeGrid } from "./tiles.js";

/**
 * An image, as sent by Python. Its bytes are rows or, with ``side``, square images to be arranged in a grid.
 * ``palette``: "" for the text colour, "signed" for weights around 128, "classes COUNT LEVELS" for classes with their
 * certainty.
 * @typedef {{image: Uint8Array, width: number, caption: string, palette?: string, side?: number, across?: number,
 *   zoom?: number}} Image
 */
/** @import { Colour } from "../../elements/colours.js" */

const ZERO = 128; // byte of a weight of 0
const FULL = 127; // difference of the largest weight's byte from ``ZERO``
const LINE = 60; // opacity of lines between images, of 255; they give white images an edge
const SIGNED_LINE = 90; // opacity of those lines in signed images; their colour is neutral
// Colours of classes differ only in lightness, so that they are not mistaken for those of rules.
const REGIONS = ["first-region", "second-region"];
const POINTS = ["first-point", "second-point"];
const MIN_STRENGTH = 0.35; // strength of the colour where the net is undecided, so that borders show
const CANVAS_SIZE = 384; // width and height of the canvas for dots in px
const RADII = [3.4, 6]; // of dots without and with a ring, in px
const painted = /** @type {WeakMap<HTMLCanvasElement, {bytes: ArrayLike<number>, key: string}>} */ (
  new WeakMap()
);

/**
 * Paint an image, unless the canvas shows it already.
 * @param {HTMLCanvasElement} canvas @param {Image} image @param {number} ink
 */
export function paintImage(canvas, { image, width, palette = "", side = 0, across, zoom = 1 }, ink) {
  if (isPainted(canvas, image, `${palette} ${ink}`)) return;
  const colours = listColours(canvas, palette, ink);
  if (!side) {
    paint(canvas, width, image.length / width, (at) => colours[image[at]]);
    return;
  }
  const grid = arrangeGrid(image.length / side ** 2, side, { across, zoom });
  const line = palette
    ? toPixel(...readFixedColour(canvas, "neutral"), SIGNED_LINE)
    : (ink | (LINE << 24)) >>> 0;
  const colourOf = (/** @type {number} */ index) => (index < 0 ? line : colours[image[index]]);
  paint(canvas, grid.width, grid.height, (at) => colourOf(grid.indices[at]));
}

/**
 * Return whether a canvas already shows some bytes with the same key, and store that it will.
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} bytes @param {string} key
 */
export function isPainted(canvas, bytes, key) {
  const last = painted.get(canvas);
  painted.set(canvas, { bytes, key });
  return last?.key === key && areEqual(last.bytes, bytes);
}

/**
 * Return the pixel for each byte of an image, which means a class, a signed weight, or an opacity.
 * @param {Element} host @param {string} palette @param {number} ink the text colour @returns {number[]}
 */
function listColours(host, palette, ink) {
  const read = (/** @type {string} */ token) => readFixedColour(host, token);
  const [kind, classes, levels] = palette.split(" ").map((word, at) => (at ? Number(word) : word));
  if (kind === "classes")
    return listClassColours(Number(classes), Number(levels), REGIONS.map(read), read("neutral")).map(
      (colour) => toPixel(...colour, 255),
    );
  const [low, high] = kind ? [read("negative"), read("positive")] : [];
  return Array.from({ length: 256 }, (_, byte) => {
    const opacity = Math.round((255 * Math.abs(byte - ZERO)) / FULL);
    return low && high ? toPixel(...(byte < ZERO ? low : high), opacity) : (ink | (byte << 24)) >>> 0;
  });
}

/**
 * Return a colour for each byte, which encodes a class and a level of certainty.
 * @param {number} classes @param {number} levels @param {Colour[]} ends the colours of the first and the last class
 * @param {Colour} unknown the colour of other bytes @returns {Colour[]}
 */
export function listClassColours(classes, levels, [first, last], unknown) {
  const middle = blendColours(first, last, 0.5);
  return Array.from({ length: 256 }, (_, value) => {
    const kind = Math.floor(value / levels);
    if (kind >= classes) return unknown;
    const sure = MIN_STRENGTH + (1 - MIN_STRENGTH) * ((value % levels) / (levels - 1));
    return blendColours(middle, blendColours(first, last, kind / (classes - 1)), sure);
  });
}

/**
 * Paint examples as dots in the colours of their classes, unless the canvas shows them already.
 * @param {HTMLCanvasElement} canvas
 * @param {{dots: Uint8Array[], palette: string}} plane three bytes per dot: x and y in 255ths from the lower left, and
 *   the class; the second array has the dots with a ring
 */
export function paintDots(canvas, { dots, palette }) {
  const [, classes] = palette.split(" ").map(Number);
  if (
    isPainted(
      canvas,
      dots.flatMap((each) => [...each]),
      palette,
    )
  )
    return;
  Object.assign(canvas, { width: CANVAS_SIZE, height: CANVAS_SIZE });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const [first, last] = POINTS.map((token) => readFixedColour(canvas, token));
  const ring = readFixedColour(canvas, "ring");
  const toPx = (/** @type {number} */ byte) => (byte * CANVAS_SIZE) / 255;
  dots.forEach((data, ringed) => {
    for (let at = 0; at < data.length; at += 3) {
      context.beginPath();
      context.arc(toPx(data[at]), CANVAS_SIZE - toPx(data[at + 1]), RADII[ringed], 0, 2 * Math.PI);
      context.fillStyle = `rgb(${blendColours(first, last, data[at + 2] / (classes - 1)).join()})`;
      context.fill();
      if (!ringed) continue;
      context.lineWidth = 2.5;
      context.strokeStyle = `rgb(${ring.join()})`;
      context.stroke();
    }
  });
}
