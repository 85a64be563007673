// A rule's gradient over x and g as an image: one colour for each band of values, stripes for NaN.

import { paint, toPixel } from "../../elements/canvas.js";
import { blendColours } from "../../elements/colours.js";
import { getColourBand } from "../../measures/map.js";

/** @import { Bands, RuleMap } from "../../measures/map.js" */
/** @import { Colour } from "../../elements/colours.js" */

const MIN_SHARE = 0.16; // strength of the first band's colour, so that it differs from 0
const STRIPE_PX = 4; // px between stripes

/**
 * Return the colours of all bands from the lowest values to the highest. The middle one is for 0 and is the background.
 * @param {number} count number of bands on each side of 0 @param {Colour} ground
 * @param {[Colour, Colour]} ends colours of the lowest and the highest band
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
 * Paint the gradient of a rule over x and g on a canvas, with one pixel for each cell.
 * @param {HTMLCanvasElement} canvas @param {RuleMap} map @param {Bands} bands
 * @param {Colour[]} colours the bands' colours, from ``makeColours``
 * @param {Colour} ink the colour of the stripes for NaN
 */
export function paintMap(canvas, { columns, rows, values }, bands, colours, ink) {
  const [line, ...packed] = [ink, ...colours].map((colour) => toPixel(...colour, 255));
  paint(canvas, columns, rows, (i) => {
    if (!Number.isNaN(values[i])) return packed[bands.count + getColourBand(values[i], bands)];
    return ((i % columns) + Math.floor(i / columns)) % STRIPE_PX ? packed[bands.count] : line;
  });
}

/** Format a colour in CSS syntax. @param {Colour} colour */
export const toCss = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;
