// The active layer: further curves over a chart and a text about them, from Python's answer.

import { findStochastic } from "../../formula/draws.js";
import { fillTemplate } from "../../formula/phrases.js";

/** @import { LayerCurve, Picture } from "./picture.js" */

/** Return the active layer's curves, none for stochastic entries. @param {Picture} picture @returns {LayerCurve[]} */
export function getLayerCurves(picture) {
  const { layer, layerAnswer, op, rules } = picture;
  if (!layer || !layerAnswer || findStochasticEntry(picture)) return [];
  const ofOp = { key: "", label: op.label, colour: "" };
  return layerAnswer.curves.flatMap(({ rule, ...curve }) => {
    const source = rule ? rules.find(({ key, hidden }) => key === rule && !hidden) : ofOp;
    return source ? [{ of: source, ...curve }] : [];
  });
}

/** Return the text about the active layer, or "". @param {Picture} picture @param {string} label */
export function getLayerText(picture, label) {
  const { layer, layerAnswer, drawnWords } = picture;
  if (!layer) return "";
  const stochastic = drawnWords && findStochasticEntry(picture);
  if (stochastic) return fillTemplate(drawnWords.fixed, { entry: stochastic.label, here: label });
  return layerAnswer?.words ?? "";
}

/** Return the first stochastic entry of a picture, or undefined. @param {Picture} picture */
function findStochasticEntry({ op, rules }) {
  return findStochastic([op, ...rules.map(({ entry }) => entry)]);
}
