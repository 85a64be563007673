// Bytes as the pixels of a canvas, which CSS scales up.

import { parseColour } from "./colours.js";

const [BAR, GAP, STEPS] = [3, 1, 48]; // in pixels: width of a bar, of a gap, and height of the canvas
const SOFT = 190; // opacity of a bar, of 255

/**
 * Return the text colour of an element as a pixel with opacity 0. Call it once per theme, because it forces a layout.
 * @param {Element} node
 */
export function readInk(node) {
  return toPixel(...parseColour(getComputedStyle(node).color), 0);
}

/**
 * Return a pixel as a canvas stores it, with red in the lowest byte. All numbers are from 0 to 255.
 * @param {number} red @param {number} green @param {number} blue @param {number} opacity
 */
export function toPixel(red, green, blue, opacity) {
  return (red | (green << 8) | (blue << 16) | (opacity << 24)) >>> 0;
}

/**
 * Paint bytes in rows, from 0 (transparent) to 255 (opaque).
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} bytes @param {number} width pixels in a row
 * @param {number} ink the colour, from ``readInk``
 */
export function paintGrey(canvas, bytes, width, ink) {
  paint(canvas, width, bytes.length / width, (at) => (ink | (bytes[at] << 24)) >>> 0);
}

/**
 * Paint bytes as bars above and below a zero level.
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} bytes @param {number} zero the byte at that level
 * @param {number} ink the colour, from ``readInk``
 */
export function paintBars(canvas, bytes, zero, ink) {
  const pitch = BAR + GAP;
  const wide = bytes.length * pitch - GAP;
  const toRow = (/** @type {number} */ byte) => Math.round((1 - byte / 255) * (STEPS - 1));
  const ends = Array.from(bytes, (byte) => [toRow(zero), toRow(byte)].sort((one, other) => one - other));
  paint(canvas, wide, STEPS, (at) => {
    const [x, y] = [at % wide, Math.floor(at / wide)];
    const [top, bottom] = ends[Math.floor(x / pitch)];
    const isBar = x % pitch < BAR && y >= top && y <= bottom;
    return isBar ? (ink | (SOFT << 24)) >>> 0 : 0;
  });
}

/**
 * Paint a canvas pixel by pixel.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 * @param {(at: number) => number} colour returns a pixel by its index, row by row from the top
 */
export function paint(canvas, width, height, colour) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < pixels.length; at += 1) pixels[at] = colour(at);
  context.putImageData(image, 0, 0);
}

/** Return whether two arrays of numbers are equal. @param {ArrayLike<number>} one @param {ArrayLike<number>} other */
export function areEqual(one, other) {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}
