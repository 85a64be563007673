// Further curves that the user can switch on over the chart, such as the op's mean under noise, with a text. Python
// computes them.

import { findStochastic } from "../../formula/draws.js";
import { fillTemplate } from "../../formula/phrases.js";

/** @import { LayerCurve, Picture } from "./picture.js" */

/**
 * Return the further curves that Python has computed for a chart. Returns [] if the op or a rule is stochastic.
 * @param {Picture} picture @returns {LayerCurve[]}
 */
export function getLayerCurves(picture) {
  const { layer, layerAnswer, op, rules } = picture;
  if (!layer || !layerAnswer || findStochasticEntry(picture)) return [];
  const ofOp = { key: "", label: op.label, colour: "" };
  return layerAnswer.curves.flatMap(({ rule, ...curve }) => {
    const source = rule ? rules.find(({ key, hidden }) => key === rule && !hidden) : ofOp;
    return source ? [{ of: source, ...curve }] : [];
  });
}

/**
 * Return the text about the further curves of a chart, or "" if there are none.
 * @param {Picture} picture @param {string} label the name of these curves
 */
export function getLayerText(picture, label) {
  const { layer, layerAnswer, drawnWords } = picture;
  if (!layer) return "";
  const stochastic = drawnWords && findStochasticEntry(picture);
  if (stochastic) return fillTemplate(drawnWords.fixed, { entry: stochastic.label, here: label });
  return layerAnswer?.words ?? "";
}

/** @param {Picture} picture */
function findStochasticEntry({ op, rules }) {
  return findStochastic([op, ...rules.map(({ entry }) => entry)]);
}
