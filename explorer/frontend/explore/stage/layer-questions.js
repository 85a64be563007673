// The layer that is on: Python is asked at each change, and an answer stays until the next.

import { keyOf } from "../../asking/ask.js";
import { createLatestQuestion } from "../../asking/latest-question.js";
import { keepRules } from "../../asking/some-rules.js";
import { getLinkedParameters } from "../../choice/address.js";
import { decodeArray } from "../../choice/arrays.js";

/** @import { Answer, Arguments, Ask } from "../../asking/ask.js" */
/** @import { Choice } from "../../choice/choice.js" */
/** @import { LayerAnswer } from "../../chart/scene/picture.js" */

/** The question of each layer, named as the layer. @type {Record<string, {read: (answer: Answer) => LayerAnswer, argumentsOf: (choice: Choice) => Arguments}>} */
const LAYERS = {
  lens: { read: readLens, argumentsOf: lensArguments },
  implied: { read: readImplied, argumentsOf: impliedArguments },
};

/** @param {Ask} ask @param {() => void} onChange */
export function createLayerQuestions(ask, onChange) {
  let now = { layer: "", answer: /** @type {LayerAnswer|null} */ (null) };
  let last = "";
  const questions = Object.fromEntries(
    Object.entries(LAYERS).map(([layer, { read }]) => [
      layer,
      createLatestQuestion(ask, layer, (answer) => {
        now = { layer, answer: answer.message === undefined ? read(answer) : refusal(answer.message) };
        onChange();
      }),
    ]),
  );
  return {
    /** The last answer, null without one; other arguments are asked for. @param {Choice} choice */
    find(choice) {
      const { layer } = choice;
      if (!layer) return null;
      const args = LAYERS[layer].argumentsOf(choice);
      const key = keyOf(layer, args);
      if (key !== last) questions[layer].ask(args);
      last = key;
      return now.layer === layer ? now.answer : null;
    },
    destroy: () => Object.values(questions).forEach((question) => question.destroy()),
  };
}

/** @param {*} encoded */
const floats = (encoded) => /** @type {Float32Array|Float64Array} */ (decodeArray(encoded));

/** @param {string} words @returns {LayerAnswer} */
const refusal = (words) => ({ curves: [], words });

/** @param {Answer} answer @returns {LayerAnswer} */
function readLens({ x, gradient, words }) {
  return { curves: [{ rule: "", panel: "gradient", x: floats(x), y: floats(gradient) }], words };
}

/** @param {Answer} answer @returns {LayerAnswer} */
function readImplied({ lead, rules }) {
  const all = /** @type {[string, *][]} */ (Object.entries(rules));
  const curves = all.flatMap(([rule, { x, y }]) =>
    y ? [{ rule, panel: /** @type {const} */ ("forward"), x: floats(x), y: floats(y) }] : [],
  );
  return { curves, words: [lead, ...all.map(([, { words }]) => words)].filter(Boolean).join(" ") };
}

/** The choice with those of its rules alone that are not hidden; of hidden ones the first. @param {Choice} choice */
export function visibleRules(choice) {
  const isSeen = choice.rules.some(({ hidden }) => !hidden);
  const shown = keepRules(choice, ({ slot, hidden }) => (isSeen ? !hidden : slot === choice.rules[0].slot));
  const { op, rules, range } = shown;
  const [start, stop] = range;
  return { op, rules: rules.map(({ key }) => key), parameters: getLinkedParameters(shown), start, stop };
}

/** The arguments of the question about the op under noise. @param {Choice} choice */
export function lensArguments(choice) {
  const { g, noise, noise_width: width } = choice;
  return { ...visibleRules(choice), noise, width, g };
}

/** The arguments of the question about the functions that rules descend. @param {Choice} choice */
export function impliedArguments(choice) {
  return visibleRules(choice);
}
