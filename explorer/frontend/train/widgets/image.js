// Images of instruments on canvases, and examples as dots on them.

import { areEqual, paint, toPixel } from "./canvas.js";
import { arrangeGrid } from "./tiles.js";

/**
 * An image.
 *
 * @typedef {{image: Uint8Array, width: number, caption: string, palette?: string, side?: number, across?: number,
 *   zoom?: number}} Image as Python sends it: bytes row by row or, with ``side``, square images in a grid; ``palette``:
 *   "" for the text colour, "signed" for weights around 128, "classes COUNT LEVELS" for classes with their certainty
 * @typedef {[number, number, number]} Rgb red, green and blue, from 0 to 255
 */

const LOW = /** @type {Rgb} */ ([196, 88, 20]); // colour of negative weights
const HIGH = /** @type {Rgb} */ ([23, 92, 160]);
const ZERO = 128; // byte of a weight of 0
const FULL = 127; // difference of the largest weight's byte from ``ZERO``
const LINE = 60; // opacity of lines between images, of 255; they give white images an edge
const SIGNED_LINE = toPixel(128, 128, 128, 90); // grey, which shows between weights of 0
// Colours of classes differ in lightness, and so from those of rules.
const GROUND = /** @type {[Rgb, Rgb]} */ ([
  [255, 238, 160],
  [84, 108, 152],
]);
const DOTS = /** @type {[Rgb, Rgb]} */ ([
  [158, 120, 0],
  [20, 36, 84],
]);
const UNKNOWN = /** @type {Rgb} */ ([127, 127, 127]);
const MIN_STRENGTH = 0.35; // strength of the colour where the net is undecided, so that borders show
const CANVAS_SIZE = 384; // width and height of the canvas for dots in px
const RADII = [3.4, 6]; // of dots without and with a ring, in px
const painted = /** @type {WeakMap<HTMLCanvasElement, {bytes: ArrayLike<number>, key: string}>} */ (
  new WeakMap()
);

/** Paint an image, unless the canvas shows it already. @param {HTMLCanvasElement} canvas @param {Image} image @param {number} ink */
export function paintImage(canvas, { image, width, palette = "", side = 0, across, zoom = 1 }, ink) {
  if (isPainted(canvas, image, `${palette} ${ink}`)) return;
  const colours = listColours(palette, ink);
  if (!side) {
    paint(canvas, width, image.length / width, (at) => colours[image[at]]);
    return;
  }
  const grid = arrangeGrid(image.length / side ** 2, side, { across, zoom });
  const line = palette ? SIGNED_LINE : (ink | (LINE << 24)) >>> 0;
  const colourOf = (/** @type {number} */ index) => (index < 0 ? line : colours[image[index]]);
  paint(canvas, grid.width, grid.height, (at) => colourOf(grid.indices[at]));
}

/**
 * Return whether a canvas shows these bytes already, and store them.
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} bytes @param {string} key
 */
function isPainted(canvas, bytes, key) {
  const last = painted.get(canvas);
  painted.set(canvas, { bytes, key });
  return last?.key === key && areEqual(last.bytes, bytes);
}

/** Return the pixel for each byte. @param {string} palette @param {number} ink text colour @returns {number[]} */
function listColours(palette, ink) {
  const [kind, classes, levels] = palette.split(" ").map((word, at) => (at ? Number(word) : word));
  if (kind === "classes")
    return listClassColours(Number(classes), Number(levels)).map((rgb) => toPixel(...rgb, 255));
  return Array.from({ length: 256 }, (_, byte) => {
    const [red, green, blue] = byte < ZERO ? LOW : HIGH;
    const opacity = Math.round((255 * Math.abs(byte - ZERO)) / FULL);
    return kind ? toPixel(red, green, blue, opacity) : (ink | (byte << 24)) >>> 0;
  });
}

/**
 * Return the colour for each byte, which encodes a class and its certainty.
 * @param {number} classes @param {number} levels @returns {Rgb[]}
 */
export function listClassColours(classes, levels) {
  const middle = mix(GROUND, 0.5);
  return Array.from({ length: 256 }, (_, value) => {
    const kind = Math.floor(value / levels);
    if (kind >= classes) return UNKNOWN;
    const sure = MIN_STRENGTH + (1 - MIN_STRENGTH) * ((value % levels) / (levels - 1));
    return round(mix([middle, round(mix(GROUND, kind / (classes - 1)))], sure));
  });
}

/** Blend two colours. @param {[Rgb, Rgb]} ends @param {number} share from 0 for the first to 1 @returns {Rgb} */
function mix([from, to], share) {
  return /** @type {Rgb} */ (from.map((value, at) => value + share * (to[at] - value)));
}

/** Round a colour to integers. @param {Rgb} colour @returns {Rgb} */
function round(colour) {
  return /** @type {Rgb} */ (colour.map(Math.round));
}

/**
 * Paint examples as dots in the colours of their classes, unless the canvas shows them already.
 * @param {HTMLCanvasElement} canvas
 * @param {{dots: Uint8Array[], palette: string}} plane three bytes per dot: x and y in 255ths from the lower left, and
 *   the class; first the dots without a ring
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
  const toPx = (/** @type {number} */ byte) => (byte * CANVAS_SIZE) / 255;
  dots.forEach((data, ringed) => {
    for (let at = 0; at < data.length; at += 3) {
      context.beginPath();
      context.arc(toPx(data[at]), CANVAS_SIZE - toPx(data[at + 1]), RADII[ringed], 0, 2 * Math.PI);
      context.fillStyle = `rgb(${round(mix(DOTS, data[at + 2] / (classes - 1))).join()})`;
      context.fill();
      if (!ringed) continue;
      context.lineWidth = 2.5;
      context.strokeStyle = "#fff";
      context.stroke();
    }
  });
}
