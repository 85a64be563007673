// Paints weights as pixels, with positive ones in blue and negative ones in orange.

import { paint, toPixel } from "./canvas.js";
import { arrangeGrid } from "./tiles.js";

const LOW = [196, 88, 20]; // colour of negative weights
const HIGH = [23, 92, 160];
const FULL = 127; // the byte that encodes the largest weight
const ZOOM = 2; // width of a weight in pixels; lines between images are one pixel wide
const LINE = toPixel(128, 128, 128, 90); // grey, so that it is visible between weights of 0

/**
 * Weights as an instrument sends them: one row per input, one column per output; ``kernel`` is the side of a column's
 * images, one per map below, or 0 without images.
 * @typedef {{values: Int8Array, columns: number, kernel: number}} Weights
 */

/**
 * Paint a weight matrix, with positive weights in blue and negative ones in orange.
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
  const area = side ** 2;
  const below = rows / area;
  const options = below > 1 ? { across: below, zoom: ZOOM } : { zoom: ZOOM };
  const { width, height, indices } = arrangeGrid(columns * below, side, options);
  paint(canvas, width, height, (at) => {
    const index = indices[at];
    if (index < 0) return LINE;
    const [tile, inside] = [Math.floor(index / area), index % area];
    const [output, map] = [Math.floor(tile / below), tile % below];
    return colourOf(values[(map * area + inside) * columns + output]);
  });
}

/** @param {number} value of a weight, within ±FULL */
function colourOf(value) {
  const [red, green, blue] = value < 0 ? LOW : HIGH;
  return toPixel(red, green, blue, Math.round((255 * Math.abs(value)) / FULL));
}
