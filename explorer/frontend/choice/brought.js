// Torch's values without a server: files beside the site, for the catalogue at its defaults.

import { curvesKey, settingsOf } from "./choice.js";
import { CONFIRMED, understood } from "./confirm.js";
import { catalogue, isOwn } from "./entries.js";
import { received } from "./message.js";
import { defaultView } from "./view.js";
import { array } from "./arrays.js";
import { BESIDE, EVEN, KINK } from "../formula/curves.js";

/** @import { Choice } from "./choice.js" */
/** @import { Answer, Confirm } from "./confirm.js" */
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

const COMPUTED = "Computed in the browser";
const GONE = "Torch's values could not be loaded: computed in the browser";

/**
 * The confirmation of a choice at rest by torch's values among the site's files.
 * @param {Load} load
 * @returns {Confirm}
 */
export function createBrought(load) {
  return ({ onAnswer, onStatus }) => {
    let turn = 0;

    function drop() {
      turn += 1;
      onStatus("requested");
    }

    /** @param {Choice} choice */
    async function ask(choice) {
      drop();
      const mine = turn;
      const answer = await broughtAnswer(choice, load).catch(() => GONE);
      if (mine !== turn) return;
      if (answer === null || typeof answer === "string") return onStatus("computed", answer ?? COMPUTED);
      onAnswer(answer, choice);
      onStatus("confirmed", CONFIRMED);
    }

    return { ask, drop };
  };
}

/**
 * Torch's curves and words for a choice; null where they did not come along.
 * @param {Choice} choice
 * @param {Load} load
 * @returns {Promise<Answer|null>}
 */
async function broughtAnswer(choice, load) {
  /** @type {OfOp} */
  const known = await load(isOwn(choice.op) ? "own" : choice.op);
  const whole = known.answers.find((one) => curvesKey(received(one.choice)) === curvesKey(choice));
  if (whole) {
    const answer = understood(whole.answer);
    return "message" in answer ? null : answer;
  }
  const held = choice.rules.every(({ key }) => key in known.gradients);
  return isUsual(choice) && known.forward && held
    ? assembled(choice, known, known.forward, await load("values"))
    : null;
}

/** Whether everything but op and rules is at its default. @param {Choice} choice */
function isUsual(choice) {
  const usual = settingsOf({ ...choice, ...defaultView(), parameters: {} });
  const sameSettings = JSON.stringify(settingsOf(choice)) === JSON.stringify(usual);
  return sameSettings && !choice.learns && !choice.rules.some(({ key }) => isOwn(key));
}

/**
 * The curves as torch samples them: the even points, and every kink of one of them with what lies beside it.
 * @param {Choice} choice
 * @param {OfOp} known
 * @param {Curve} forward
 * @param {Values} values
 * @returns {Answer}
 */
function assembled({ rules }, known, forward, { x, even, kinks, arrays }) {
  const curves = [forward, ...rules.map(({ key }) => known.gradients[key])];
  const bends = curves.flatMap((curve) => curve.kinks ?? []).map((number) => kinks[number]);
  const marked = new Map(even.map((index) => [index, EVEN]));
  for (const { beside } of bends) for (const index of beside) marked.set(index, BESIDE);
  for (const { at } of bends) marked.set(at, KINK);
  const indices = [...marked.keys()].sort((one, other) => one - other);
  const all = array(x);
  const picked = (/** @type {Curve} */ curve) => {
    const whole = array(arrays[curve.values]);
    return Float32Array.from(indices, (index) => whole[index]);
  };
  const where = (/** @type {Curve} */ curve) =>
    curve.kinks && curve.kinks.map((number) => all[kinks[number].at]);
  const byRule = (/** @type {(curve: Curve) => *} */ of) =>
    Object.fromEntries(rules.map(({ key }) => [key, of(known.gradients[key])]));
  const [head, main, rest] = known.words[rules.map(({ key }) => key).join(" ")] ?? ["", "", ""];
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
