// Questions to Python for further curves over the chart. After each change, the last answer stays until the next one.

import { toKey } from "../../asking/ask.js";
import { createLatestQuestion } from "../../asking/latest-question.js";
import { keepRules } from "../../asking/some-rules.js";
import { getLinkedParameters } from "../../choice/address.js";
import { decodeArray } from "../../choice/arrays.js";

/** @import { Answer, Arguments, Ask } from "../../asking/ask.js" */
/** @import { Choice } from "../../choice/choice.js" */
/** @import { LayerAnswer } from "../../chart/scene/picture.js" */

/**
 * The questions for further curves, by kind: how to make their arguments and decode their answers.
 * @type {Record<string, {read: (answer: Answer) => LayerAnswer, argumentsOf: (choice: Choice) => Arguments}>}
 */
const LAYERS = {
  lens: { read: parseLens, argumentsOf: getLensArguments },
  implied: { read: parseImplied, argumentsOf: getImpliedArguments },
};

/**
 * Create a function that finds the further curves of the chart. It asks Python if necessary.
 * @param {Ask} ask @param {() => void} onChange called when an answer arrives
 */
export function createLayerQuestions(ask, onChange) {
  let now = { layer: "", answer: /** @type {LayerAnswer|null} */ (null) };
  let last = "";
  const questions = Object.fromEntries(
    Object.entries(LAYERS).map(([layer, { read }]) => [
      layer,
      createLatestQuestion(ask, layer, (answer) => {
        now = {
          layer,
          answer: answer.message === undefined ? read(answer) : { curves: [], words: answer.message },
        };
        onChange();
      }),
    ]),
  );
  return {
    /** Return the last answer, or null. If the arguments have changed, ask Python again. @param {Choice} choice */
    find(choice) {
      const { layer } = choice;
      if (!layer) return null;
      const args = LAYERS[layer].argumentsOf(choice);
      const key = toKey(layer, args);
      if (key !== last) questions[layer].ask(args);
      last = key;
      return now.layer === layer ? now.answer : null;
    },
    destroy: () => Object.values(questions).forEach((question) => question.destroy()),
  };
}

/** @param {*} encoded */
const decodeFloats = (encoded) => /** @type {Float32Array|Float64Array} */ (decodeArray(encoded));

/** @param {Answer} answer @returns {LayerAnswer} */
function parseLens({ x, gradient, words }) {
  return { curves: [{ rule: "", panel: "gradient", x: decodeFloats(x), y: decodeFloats(gradient) }], words };
}

/** @param {Answer} answer @returns {LayerAnswer} */
function parseImplied({ lead, rules }) {
  const all = /** @type {[string, *][]} */ (Object.entries(rules));
  const curves = all.flatMap(([rule, { x, y }]) =>
    y ? [{ rule, panel: /** @type {const} */ ("forward"), x: decodeFloats(x), y: decodeFloats(y) }] : [],
  );
  return { curves, words: [lead, ...all.map(([, { words }]) => words)].filter(Boolean).join(" ") };
}

/**
 * Return the arguments of questions about the visible rules, or about the first rule if all are hidden.
 * @param {Choice} choice
 */
export function getVisibleArguments(choice) {
  const isSeen = choice.rules.some(({ hidden }) => !hidden);
  const visibleChoice = keepRules(choice, ({ slot, hidden }) =>
    isSeen ? !hidden : slot === choice.rules[0].slot,
  );
  const { op, rules, range } = visibleChoice;
  const [start, stop] = range;
  return {
    op,
    rules: rules.map(({ key }) => key),
    parameters: getLinkedParameters(visibleChoice),
    start,
    stop,
  };
}

/** Return the arguments of the question for the slope of the op's mean under noise. @param {Choice} choice */
export function getLensArguments(choice) {
  const { g, noise, noise_width: width } = choice;
  return { ...getVisibleArguments(choice), noise, width, g };
}

/**
 * Return the arguments of the question for the functions whose derivatives are the backward rules.
 * @param {Choice} choice
 */
export function getImpliedArguments(choice) {
  return getVisibleArguments(choice);
}
