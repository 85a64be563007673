// The layers of a chart by key: further curves over it, as explorer/instrument/view.py declares them.

import { firstDrawn } from "../../formula/draws.js";
import { filled } from "../../formula/phrases.js";
import { layer as implied } from "./implied.js";
import { layer as lens } from "./lens.js";

/** @import { LayerCurve, Picture } from "./picture.js" */

/** @type {Record<string, import("./picture.js").Layer>} */
export const LAYERS = { implied, lens };

/** The curves of the layer that is on; of what draws none. @param {Picture} picture @returns {LayerCurve[]} */
export function layerCurves(picture) {
  const { layer } = picture;
  return layer && !drawnIn(picture) ? LAYERS[layer].curves(picture) : [];
}

/**
 * What is said of the layer that is on.
 * @param {Picture} picture
 * @param {{label: string, words: Record<string, string>}} entry
 */
export function layerWords(picture, { label, words }) {
  const { layer, drawnWords } = picture;
  if (!layer) return "";
  const drawn = drawnWords && drawnIn(picture);
  return drawn
    ? filled(drawnWords.fixed, { entry: drawn.label, here: label })
    : LAYERS[layer].words(picture, words);
}

/** @param {Picture} picture */
function drawnIn({ op, rules }) {
  return firstDrawn([op, ...rules.map(({ entry }) => entry)]);
}
