// The layer that is on: further curves over a chart and words on them, as Python answers.

import { findStochastic } from "../../formula/draws.js";
import { fillTemplate } from "../../formula/phrases.js";

/** @import { LayerCurve, Picture } from "./picture.js" */

/** The curves of the layer that is on; of what draws none. @param {Picture} picture @returns {LayerCurve[]} */
export function layerCurves(picture) {
  const { layer, layerAnswer, op, rules } = picture;
  if (!layer || !layerAnswer || drawnIn(picture)) return [];
  const ofOp = { key: "", label: op.label, colour: "" };
  return layerAnswer.curves.flatMap(({ rule, ...curve }) => {
    const of = rule ? rules.find(({ key, hidden }) => key === rule && !hidden) : ofOp;
    return of ? [{ of, ...curve }] : [];
  });
}

/** What is said of the layer that is on. @param {Picture} picture @param {string} label */
export function layerWords(picture, label) {
  const { layer, layerAnswer, drawnWords } = picture;
  if (!layer) return "";
  const drawn = drawnWords && drawnIn(picture);
  if (drawn) return fillTemplate(drawnWords.fixed, { entry: drawn.label, here: label });
  return layerAnswer?.words ?? "";
}

/** @param {Picture} picture */
function drawnIn({ op, rules }) {
  return findStochastic([op, ...rules.map(({ entry }) => entry)]);
}
