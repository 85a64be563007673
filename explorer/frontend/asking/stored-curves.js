// Curves computed by torch for the static site: stored for every op and rule with default parameters.

import { getCurvesArguments, toKey } from "./ask.js";
import { decodeCurves } from "./confirm.js";
import { isCustom } from "../choice/entries.js";
import { parseMessage } from "../choice/message.js";
import { getDefaultView } from "../choice/view.js";
import { decodeArray } from "../choice/arrays.js";
import { NEIGHBOUR, EVEN, KINK } from "../formula/curves.js";

/** @import { Answer } from "./confirm.js" */
/**
 * The contents of the files that explorer/site/torch_values.py writes.
 * @typedef {*} EncodedArray an array in base64
 * @typedef {{x: EncodedArray, even: number[], kinks: {at: number, beside: number[]}[], arrays: EncodedArray[]}}
 *   BundledValues ``x``: every sampled x; ``even``, ``at`` and ``beside`` are indices into it
 * @typedef {{values: number, kinks: number[]|null}} Curve the index of its array in ``arrays``, and the indices of its
 *   kinks, null if too many
 * @typedef {{forward: Curve|null, gradients: Record<string, Curve>, words: Record<string, [string, string, string]>,
 *   answers: {choice: *, answer: *}[]}} OpBundle an op's curves with every rule; ``words``: sentences by rule key;
 *   ``answers``: complete answers for some settings
 * @typedef {(name: string) => Promise<*>} Load loads a bundled file
 */

/**
 * Return stored curves that torch has computed. Resolves to null if there are none for the arguments.
 * @param {Record<string, *>} args the settings, from ``getCurvesArguments`` @param {Load} load
 * @returns {Promise<Answer|null>}
 */
export async function loadStoredCurves(args, load) {
  /** @type {OpBundle} */
  const bundle = await load(isCustom(args.op) ? "own" : args.op);
  const key = toKey("curves", args);
  const stored = bundle.answers.find(
    (one) => toKey("curves", getCurvesArguments(parseMessage(one.choice))) === key,
  );
  if (stored) {
    const answer = decodeCurves(stored.answer);
    return "message" in answer ? null : answer;
  }
  const rules = /** @type {string[]} */ (args.rules);
  const hasRules = rules.every((rule) => rule in bundle.gradients);
  return isDefault(args) && bundle.forward && hasRules
    ? assembleAnswer(rules, bundle, bundle.forward, await load("values"))
    : null;
}

/** Return whether all arguments except the op and the rules have default values. @param {Record<string, *>} args */
function isDefault({ parameters, start, stop, g, f, learns, rules }) {
  const { range, ...view } = getDefaultView();
  const hasDefaultView = start === range[0] && stop === range[1] && g === view.g && f === view.f && !learns;
  return hasDefaultView && Object.keys(parameters).length === 0 && !rules.some(isCustom);
}

/**
 * Return an answer made from stored curves, at the x that torch would sample: even points, kinks and their neighbours.
 * @param {string[]} rules @param {OpBundle} bundle @param {Curve} forward @param {BundledValues} values
 * @returns {Answer}
 */
function assembleAnswer(rules, bundle, forward, { x, even, kinks, arrays }) {
  const curves = [forward, ...rules.map((key) => bundle.gradients[key])];
  const kinkMarks = curves.flatMap((curve) => curve.kinks ?? []).map((number) => kinks[number]);
  const marks = new Map(even.map((index) => [index, EVEN]));
  for (const { beside } of kinkMarks) for (const index of beside) marks.set(index, NEIGHBOUR);
  for (const { at } of kinkMarks) marks.set(at, KINK);
  const indices = [...marks.keys()].sort((one, other) => one - other);
  const allX = decodeArray(x);
  const pickValues = (/** @type {Curve} */ curve) => {
    const allValues = decodeArray(arrays[curve.values]);
    return Float32Array.from(indices, (index) => allValues[index]);
  };
  const getKinks = (/** @type {Curve} */ curve) =>
    curve.kinks && curve.kinks.map((number) => allX[kinks[number].at]);
  const mapRules = (/** @type {(curve: Curve) => *} */ of) =>
    Object.fromEntries(rules.map((key) => [key, of(bundle.gradients[key])]));
  const [head, main, rest] = bundle.words[rules.join(" ")] ?? ["", "", ""];
  return {
    curves: {
      x: Float32Array.from(indices, (index) => allX[index]),
      marks: Int8Array.from(indices, (index) => /** @type {number} */ (marks.get(index))),
      y: pickValues(forward),
      gradients: mapRules(pickValues),
      parts: {},
      kinks: { forward: getKinks(forward), ...mapRules(getKinks) },
    },
    words: { head, main, rest },
  };
}
