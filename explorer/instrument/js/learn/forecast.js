// A lesson before its answer: what the reader picks or draws, and what is said to it afterwards.

import { entriesOf, settingsOf } from "../choice/choice.js";
import { sampleCurves } from "../formula/curves.js";
import { element } from "../elements/dom.js";
import { find } from "../choice/entries.js";
import { distanceOf, distanceWords, pointWords } from "./distance.js";
import { createDrawing } from "./drawing.js";
import { createPrediction } from "./prediction.js";
import { shapeWords } from "./shape.js";
import { inline } from "./words.js";
import { thumbnail } from "../chart/thumbnail.js";

/** @typedef {import("../choice/choice.js").Choice} Choice */
/**
 * The form, the drawing where there is one, and the sentence that answers what was picked or drawn.
 * @typedef {{element: HTMLElement, drawing: ReturnType<typeof createDrawing>|null, verdict: (checked: boolean) => string}} Forecast
 * @typedef {{onTerm: import("./words.js").OnTerm, onCheck: () => void, onSkip: () => void}} Acts
 */

/**
 * @param {*} prediction of a lesson: ``options`` with the ``answer``, or the ``rule`` to draw; ``pictures`` of
 *   rules to pick from, and the x ``at`` which their values are told
 * @param {Choice} choice of the first curves
 * @param {Acts} acts
 * @returns {Forecast}
 */
export function createForecast(prediction, choice, acts) {
  return prediction.options ? picked(prediction, choice, acts) : drawn(prediction, choice, acts);
}

/** @param {*} prediction @param {Choice} choice @param {Acts} acts @returns {Forecast} */
function picked({ options, answer, pictures }, choice, { onTerm, onCheck, onSkip }) {
  const listed = options.map((/** @type {string} */ value, /** @type {number} */ place) => {
    const picture = pictures.length ? [pictureOf(pictures[place], choice)] : [];
    return { value, content: [...picture, element("span", {}, ...inline(value, onTerm))] };
  });
  const form = createPrediction({
    hint: "Pick an answer:",
    options: listed,
    onPick: () => {},
    onCheck,
    onSkip,
  });
  const said = (/** @type {boolean} */ checked) => {
    if (!checked) return `The answer is “${answer}”.`;
    const value = form.picked();
    return value === answer
      ? `Yes, as you expected: “${answer}”.`
      : `You expected “${value}”. The answer is “${answer}”.`;
  };
  return { element: form.element, drawing: null, verdict: said };
}

/** @param {*} prediction @param {Choice} choice @param {Acts} acts @returns {Forecast} */
function drawn({ rule, pictures, at }, choice, { onCheck, onSkip }) {
  const options = pictures.map((/** @type {string} */ key) => {
    const { x, y, marks } = sampled(key, choice);
    const even = (/** @type {Float64Array} */ values) => values.filter((_, i) => !marks[i]);
    return { value: key, content: [pictureOf(key, choice), shapeWords(even(x), even(y))] };
  });
  const drawing = createDrawing(choice.range, () => form.drawn());
  const hint = "Draw in the lower panel, over the whole width. Or pick a picture:";
  const form = createPrediction({ hint, options, onPick: drawing.clear, onCheck, onSkip });
  const said = (/** @type {boolean} */ checked) => {
    const key = form.picked();
    const of = key === null ? null : sampled(key, choice);
    const guess = of ? (/** @type {number} */ x) => of.y[of.x.indexOf(x)] : drawing.valueAt;
    const distance = distanceOf(guess, sampled(rule, choice));
    const apart = distance && checked ? distanceWords(distance, nameOf(rule)) : "";
    return at === null
      ? apart
      : `${apart} ${pointWords(at, checked ? guess(at) : NaN, valuesAt(at, choice))}`.trim();
  };
  return { element: form.element, drawing, verdict: said };
}

/** @param {string} key */
function found(key) {
  return /** @type {import("../formula/entry.js").Rule} */ (find("rule", key));
}

/** @param {string} key of a rule */
function nameOf(key) {
  const { label, formula } = found(key);
  return formula ? `the gradient of ${label}` : "torch's own gradient";
}

/** @param {string} key @param {Choice} choice */
function pictureOf(key, choice) {
  return thumbnail({ op: entriesOf(choice).op, rule: found(key) }, settingsOf(choice));
}

/** @param {string} key @param {Choice} choice */
function sampled(key, choice) {
  const { x, marks, gradients } = sampleCurves(
    { op: entriesOf(choice).op, rules: [found(key)] },
    settingsOf(choice),
  );
  return { x, marks, y: /** @type {Float64Array} */ (gradients[key]) };
}

/** What each rule of a choice returns at an x of its curves. @param {number} at @param {Choice} choice */
function valuesAt(at, choice) {
  return choice.rules.map(({ key }) => {
    const { x, y } = sampled(key, choice);
    return { label: found(key).formula ? found(key).label : "torch", value: y[x.indexOf(at)] };
  });
}
