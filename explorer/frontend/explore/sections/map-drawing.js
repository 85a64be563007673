// A rule's gradient over x and g as an image: one colour for each band of values, stripes for NaN.

import { getColourBand } from "../../measures/map.js";

/** @import { Bands, RuleMap } from "../../measures/map.js" */
/** @typedef {[number, number, number]} Colour red, green and blue, from 0 to 255 */

const MIN_SHARE = 0.16; // strength of the first band's colour, so that it differs from 0
const STRIPE_PX = 4; // px between stripes

/**
 * Return the colours of all bands, from the lowest values to the highest. The middle one is for 0 and equals the
 * background.
 * @param {number} count of bands on each side of 0 @param {Colour} ground
 * @param {[Colour, Colour]} ends colours of the lowest and highest band
 */
export function makeColours(count, ground, [below, above]) {
  return Array.from({ length: 2 * count + 1 }, (_, index) => {
    const band = index - count;
    if (band === 0) return ground;
    const part = MIN_SHARE + ((1 - MIN_SHARE) * (Math.abs(band) - 1)) / Math.max(1, count - 1);
    return blendColours(ground, band < 0 ? below : above, count === 1 ? 1 : part);
  });
}

/**
 * Return a mixture of two colours.
 * @param {Colour} one @param {Colour} other @param {number} part fraction of ``other`` @returns {Colour}
 */
function blendColours(one, other, part) {
  const [red, green, blue] = one.map((value, i) => Math.round(value + part * (other[i] - value)));
  return [red, green, blue];
}

/**
 * Paint a rule's gradient over x and g on a canvas, one pixel per cell.
 * @param {HTMLCanvasElement} canvas @param {RuleMap} map @param {Bands} bands
 * @param {Colour[]} colours from ``makeColours`` @param {Colour} ink of the stripes for NaN
 */
export function paintMap(canvas, { columns, rows, values }, bands, colours, ink) {
  if (canvas.width !== columns || canvas.height !== rows) [canvas.width, canvas.height] = [columns, rows];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const packed = colours.map(pack);
  const [blank, line] = [packed[bands.count], pack(ink)];
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (Number.isNaN(value)) pixels[i] = ((i % columns) + Math.floor(i / columns)) % STRIPE_PX ? blank : line;
    else pixels[i] = packed[bands.count + getColourBand(value, bands)];
  }
  context.putImageData(image, 0, 0);
}

/** Convert a colour to the 32-bit number of a canvas pixel. @param {Colour} colour */
function pack([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Parse a CSS colour such as "#2f7fd6" or "rgb(16, 22, 29)". @param {string} text @returns {Colour} */
export function parseColour(text) {
  const parts = text.startsWith("#")
    ? (text.slice(1).match(/../g) ?? []).map((pair) => parseInt(pair, 16))
    : (text.match(/[\d.]+/g) ?? []).map(Number);
  const [red = 255, green = 255, blue = 255] = parts;
  return [red, green, blue];
}

/** Format a colour in CSS syntax. @param {Colour} colour */
export const toCss = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;
