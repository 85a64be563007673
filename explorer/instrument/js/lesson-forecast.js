// A lesson before its answer: what the reader picks or draws, and what is said to it afterwards.

import { entriesOf, settingsOf } from "./choice.js";
import { sampleCurves } from "./curves.js";
import { find } from "./entries.js";
import { about, distanceOf, distanceWords } from "./lesson-distance.js";
import { createDrawing } from "./lesson-drawing.js";
import { createPrediction } from "./lesson-prediction.js";
import { inline } from "./lesson-words.js";
import { thumbnail } from "./thumbnail.js";

/** @typedef {import("./choice.js").Choice} Choice */
/**
 * The form, the drawing where there is one, and the sentence that answers what was picked or drawn.
 * @typedef {{element: HTMLElement, drawing: ReturnType<typeof createDrawing>|null, verdict: (checked: boolean) => string}} Forecast
 * @typedef {{onTerm: import("./lesson-words.js").OnTerm, onCheck: () => void, onSkip: () => void}} Acts
 */

/**
 * @param {*} prediction of a lesson: ``options`` with the ``answer``, or the ``rule`` to draw and ``pictures`` of rules
 * @param {Choice} choice of the first curves
 * @param {Acts} acts
 * @returns {Forecast}
 */
export function createForecast(prediction, choice, acts) {
  return prediction.pictures ? drawn(prediction, choice, acts) : picked(prediction, acts);
}

/** @param {*} prediction @param {Acts} acts @returns {Forecast} */
function picked({ options, answer }, { onTerm, onCheck, onSkip }) {
  const listed = options.map((/** @type {string} */ value) => ({ value, content: inline(value, onTerm) }));
  const form = createPrediction({ hint: "Pick an answer:", options: listed, onPick: () => {}, onCheck, onSkip });
  const said = (/** @type {boolean} */ checked) => {
    if (!checked) return `The answer is “${answer}”.`;
    const value = form.picked();
    return value === answer ? `Yes, as you expected: “${answer}”.` : `You expected “${value}”. The answer is “${answer}”.`;
  };
  return { element: form.element, drawing: null, verdict: said };
}

/** @param {*} prediction @param {Choice} choice @param {Acts} acts @returns {Forecast} */
function drawn({ rule, pictures }, choice, { onCheck, onSkip }) {
  const { op } = entriesOf(choice);
  const settings = settingsOf(choice);
  const sampled = (/** @type {string} */ key) => {
    const { x, marks, gradients } = sampleCurves({ op, rules: [found(key)] }, settings);
    return { x, marks, y: /** @type {Float64Array} */ (gradients[key]) };
  };
  const options = pictures.map((/** @type {string} */ key) => {
    return { value: key, content: [thumbnail({ op, rule: found(key) }, settings), heights(sampled(key).y)] };
  });
  const drawing = createDrawing(choice.range, () => form.drawn());
  const hint = "Draw in the lower panel, over the whole width. Or pick a picture:";
  const form = createPrediction({ hint, options, onPick: drawing.clear, onCheck, onSkip });
  const said = (/** @type {boolean} */ checked) => {
    const key = form.picked();
    const truth = sampled(rule);
    const of = key === null ? null : sampled(key);
    const distance = distanceOf(of ? (x) => of.y[of.x.indexOf(x)] : drawing.valueAt, truth);
    const { label, formula } = found(rule);
    return distance && checked ? distanceWords(distance, formula ? `the gradient of ${label}` : "torch's own gradient") : "";
  };
  return { element: form.element, drawing, verdict: said };
}

/** @param {string} key @returns {*} */
function found(key) {
  return find("rule", key);
}

/** What a picture shows, in words. @param {Float64Array} y */
function heights(y) {
  const [low, high] = [Math.min(...y), Math.max(...y)];
  return low === high ? `${about(low)} everywhere` : `between ${about(low)} and ${about(high)}`;
}
