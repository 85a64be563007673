// Weights as pixels, blue above 0 and orange below; kernels as images, a row a map and a column one below it.

import { paint, pixel } from "./canvas.js";
import { gridOf } from "./tiles.js";

const LOW = [196, 88, 20]; // of a negative weight
const HIGH = [23, 92, 160];
const FULL = 127; // of the largest weight
const ZOOM = 2; // pixels on a side of each weight of an image, beside a line of one
const LINE = pixel(128, 128, 128, 90); // so that a weight of 0 is none

/**
 * Weights, as an instrument has them: a row an input, a column an output; ``kernel`` is the side of a column's
 * images, one for each map below, 0 where it has none.
 * @typedef {{values: Int8Array, columns: number, kernel: number}} Weights
 */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Weights} weights
 * @param {boolean} [isImage] whether the inputs are the pixels of one image
 */
export function paintWeights(canvas, { values, columns, kernel }, isImage = false) {
  const rows = values.length / columns;
  const side = kernel || (isImage ? Math.sqrt(rows) : 0);
  if (!side) {
    paint(canvas, columns, rows, (at) => colourOf(values[at]));
    return;
  }
  const each = side ** 2;
  const below = rows / each;
  const more = below > 1 ? { across: below, zoom: ZOOM } : { zoom: ZOOM };
  const { width, height, indices } = gridOf(columns * below, side, more);
  paint(canvas, width, height, (at) => {
    const index = indices[at];
    if (index < 0) return LINE;
    const [tile, inside] = [Math.floor(index / each), index % each];
    const [output, map] = [Math.floor(tile / below), tile % below];
    return colourOf(values[(map * each + inside) * columns + output]);
  });
}

/** @param {number} value of a weight, within ±FULL */
function colourOf(value) {
  const [red, green, blue] = value < 0 ? LOW : HIGH;
  return pixel(red, green, blue, Math.round((255 * Math.abs(value)) / FULL));
}
