// Torch's curves for the present choice: requested at rest, dropped when the choice has moved on.

import { decodeArray } from "../choice/arrays.js";
import { curvesArguments } from "./ask.js";

/** @import { Choice } from "../choice/choice.js" */
/**
 * @typedef {{curves: *, words: {head: string, main: string, rest: string, below?: string}}} Answer
 * @typedef {"requested"|"confirmed"|"computed"|"waiting"|"gone"|"refused"} Status ``computed``: by the browser,
 *   and torch's values for it are not there to be had
 * @typedef {{onAnswer: (answer: Answer, choice: Choice) => void,
 *   onStatus: (status: Status, words?: string) => void}} Listeners
 * @typedef {(on: Listeners) => {ask: (choice: Choice) => void, drop: () => void}} Confirm makes what asks for a
 *   choice at rest, and drops what is on its way
 */

export const CONFIRMED = "Confirmed by torch";
const NOT_YET = "Not yet confirmed by torch";
const REST_MS = 120; // a choice that is changed again sooner is not asked for
const SLOW_MS = 1000; // longer than an answer takes on a busy server
const LONGEST_WAIT_MS = 15_000;

/**
 * Asks for each choice that stays. ``onAnswer`` gets torch's curves and words for the choice asked for
 * last, and no other; ``onStatus`` gets the sign beside the chart.
 * @param {{ask: import("./ask.js").Ask} & Listeners} options
 */
export function createConfirmation({ ask: askPython, onAnswer, onStatus }) {
  let timer = 0;
  let slow = 0;
  let turn = 0;
  let asking = new AbortController();

  /** Drop the answer that is on its way. */
  function drop() {
    turn += 1;
    clearTimeout(timer);
    clearTimeout(slow);
    asking.abort();
    onStatus("requested");
  }

  /** @param {Choice} choice */
  function ask(choice) {
    drop();
    const mine = turn;
    slow = setTimeout(() => onStatus("waiting", NOT_YET), SLOW_MS);
    timer = setTimeout(() => attempt(choice, mine, 1), REST_MS);
  }

  /** @param {Choice} choice @param {number} mine @param {number} count */
  async function attempt(choice, mine, count) {
    asking = new AbortController();
    const { signal } = asking;
    const answer = await askPython("curves", curvesArguments(choice), { signal });
    if (mine !== turn) return;
    if (answer.again) {
      if (answer.busy) onStatus("waiting", NOT_YET);
      else onStatus("gone", "The server does not answer: not confirmed by torch");
      const pause = Math.min(1000 * 2 ** (count - 1), LONGEST_WAIT_MS);
      timer = setTimeout(() => attempt(choice, mine, count + 1), pause);
      return;
    }
    clearTimeout(slow);
    if (answer.lacks) return onStatus("computed", answer.message);
    const found = decodeCurves(answer);
    if ("message" in found) return onStatus("refused", found.message);
    onAnswer(found, choice);
    onStatus("confirmed", CONFIRMED);
  }

  return { ask, drop };
}

/**
 * Curves with their arrays from an answer of Python; a sentence if the answer makes no sense.
 * @param {*} answer
 * @returns {Answer|{message: string}}
 */
export function decodeCurves(answer) {
  if (typeof answer?.message === "string") return { message: answer.message };
  if (answer?.curves) return answer; // put together here
  try {
    const { kinks, head, main, rest, below = "" } = answer;
    const [x, y, marks] = [answer.x, answer.y, answer.marks].map(decodeArray);
    const [gradients, parts, spread] = [answer.gradients, answer.parts, answer.spreads ?? {}].map(arrays);
    const unbiased = answer.unbiased ? decodeArray(answer.unbiased) : null;
    const all = [y, marks, ...[gradients, parts, spread].flatMap((some) => Object.values(some))];
    if (unbiased) all.push(unbiased);
    if (all.some((values) => values.length !== x.length)) throw new Error("lengths differ");
    if ([head, main, rest, below].some((text) => typeof text !== "string"))
      throw new Error("words are missing");
    const exact = unbiased && { x, marks, y: unbiased };
    const curves = { x, y, marks, gradients, parts, kinks, spread, exact };
    return { curves, words: { head, main, rest, below } };
  } catch {
    return { message: "The server's answer was not understood: not confirmed by torch" };
  }
}

/** @param {Object<string, *>} encoded */
function arrays(encoded) {
  return Object.fromEntries(Object.entries(encoded).map(([key, value]) => [key, decodeArray(value)]));
}
