// Torch's values without a server: files beside the site, for the catalogue at its defaults.

import { curvesArguments, keyOf } from "./ask.js";
import { decodeCurves } from "./confirm.js";
import { isCustom } from "../choice/entries.js";
import { parseMessage } from "../choice/message.js";
import { getDefaultView } from "../choice/view.js";
import { decodeArray } from "../choice/arrays.js";
import { NEIGHBOUR, EVEN, KINK } from "../formula/curves.js";

/** @import { Answer } from "./confirm.js" */
/**
 * The files of explorer/site/confirmed.py.
 * @typedef {*} Packed an array as it travels
 * @typedef {{x: Packed, even: number[], kinks: {at: number, beside: number[]}[], arrays: Packed[]}} Values ``x``
 *   holds all that anything is sampled at; ``even``, ``at`` and ``beside`` are indices of it
 * @typedef {{values: number, kinks: number[]|null}} Curve by the numbers of its array and its kinks in Values;
 *   null for too many
 * @typedef {{forward: Curve|null, gradients: Record<string, Curve>, words: Record<string, [string, string, string]>,
 *   answers: {choice: *, answer: *}[]}} OfOp an op with every rule, sentences by the keys of rules, and whole answers
 * @typedef {(name: string) => Promise<*>} Load gives a file that came along
 */

/**
 * Torch's curves and words of a question, or null where they did not come along.
 * @param {Record<string, *>} args see ``curvesArguments``
 * @param {Load} load
 * @returns {Promise<Answer|null>}
 */
export async function loadStoredCurves(args, load) {
  /** @type {OfOp} */
  const known = await load(isCustom(args.op) ? "own" : args.op);
  const key = keyOf("curves", args);
  const whole = known.answers.find(
    (one) => keyOf("curves", curvesArguments(parseMessage(one.choice))) === key,
  );
  if (whole) {
    const answer = decodeCurves(whole.answer);
    return "message" in answer ? null : answer;
  }
  const rules = /** @type {string[]} */ (args.rules);
  const held = rules.every((rule) => rule in known.gradients);
  return isUsual(args) && known.forward && held
    ? assembled(rules, known, known.forward, await load("values"))
    : null;
}

/** Whether everything but op and rules is at its default. @param {Record<string, *>} args */
function isUsual({ parameters, start, stop, g, f, learns, rules }) {
  const { range, ...view } = getDefaultView();
  const isSeen = start === range[0] && stop === range[1] && g === view.g && f === view.f && !learns;
  return isSeen && Object.keys(parameters).length === 0 && !rules.some(isCustom);
}

/**
 * The curves as torch samples them: the even points, and every kink of one of them with what lies beside it.
 * @param {string[]} rules
 * @param {OfOp} known
 * @param {Curve} forward
 * @param {Values} values
 * @returns {Answer}
 */
function assembled(rules, known, forward, { x, even, kinks, arrays }) {
  const curves = [forward, ...rules.map((key) => known.gradients[key])];
  const bends = curves.flatMap((curve) => curve.kinks ?? []).map((number) => kinks[number]);
  const marked = new Map(even.map((index) => [index, EVEN]));
  for (const { beside } of bends) for (const index of beside) marked.set(index, NEIGHBOUR);
  for (const { at } of bends) marked.set(at, KINK);
  const indices = [...marked.keys()].sort((one, other) => one - other);
  const all = decodeArray(x);
  const picked = (/** @type {Curve} */ curve) => {
    const whole = decodeArray(arrays[curve.values]);
    return Float32Array.from(indices, (index) => whole[index]);
  };
  const where = (/** @type {Curve} */ curve) =>
    curve.kinks && curve.kinks.map((number) => all[kinks[number].at]);
  const byRule = (/** @type {(curve: Curve) => *} */ of) =>
    Object.fromEntries(rules.map((key) => [key, of(known.gradients[key])]));
  const [head, main, rest] = known.words[rules.join(" ")] ?? ["", "", ""];
  return {
    curves: {
      x: Float32Array.from(indices, (index) => all[index]),
      marks: Int8Array.from(indices, (index) => /** @type {number} */ (marked.get(index))),
      y: picked(forward),
      gradients: byRule(picked),
      parts: {},
      kinks: { forward: where(forward), ...byRule(where) },
    },
    words: { head, main, rest },
  };
}
