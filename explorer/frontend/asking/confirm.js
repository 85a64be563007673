// Requests for torch's curves. They are sent when the user pauses and cancelled by the next change.

import { decodeArray } from "../choice/arrays.js";
import { getCurvesArguments } from "./ask.js";

/** @import { Choice } from "../choice/choice.js" */
/**
 * Torch's curves, with their description (``words``).
 * @typedef {{curves: *, words: {head: string, main: string, rest: string, below?: string}}} Answer
 * @typedef {"requested"|"confirmed"|"computed"|"waiting"|"gone"|"refused"} Status the status of the request;
 *   "computed": only the browser's own curves are available
 * @typedef {{onAnswer: (answer: Answer, choice: Choice) => void, onStatus: (status: Status, words?: string) => void}}
 *   Listeners callbacks of the requests
 * @typedef {(on: Listeners) => {ask: (choice: Choice) => void, drop: () => void}} CreateConfirmation creates the
 *   functions that request torch's curves for settings, and cancel a request
 */

/**
 * Return a function that connects listeners to requests for torch's curves.
 * @param {import("./ask.js").Ask} ask sends questions to Python @returns {CreateConfirmation}
 */
export const confirmBy = (ask) => (listeners) => createConfirmation(ask, listeners);

export const CONFIRMED_TEXT = "Confirmed by torch";
const PENDING_TEXT = "Not yet confirmed by torch";
const IDLE_MS = 120; // pause after a change before torch's curves are requested
const SLOW_MS = 1000; // time until the page says that it waits; a busy server answers sooner
const MAX_WAIT_MS = 15_000;

/**
 * Create the functions that request torch's curves for settings, once these stay the same, and cancel a request.
 * @param {import("./ask.js").Ask} askPython @param {Listeners} listeners
 */
function createConfirmation(askPython, { onAnswer, onStatus }) {
  let timer = 0;
  let slowTimer = 0;
  let latest = 0;
  let controller = new AbortController();

  function drop() {
    latest += 1;
    clearTimeout(timer);
    clearTimeout(slowTimer);
    controller.abort();
    onStatus("requested");
  }

  /** @param {Choice} choice */
  function ask(choice) {
    drop();
    const id = latest;
    slowTimer = setTimeout(() => onStatus("waiting", PENDING_TEXT), SLOW_MS);
    timer = setTimeout(() => attempt(choice, id, 1), IDLE_MS);
  }

  /**
   * Request curves for some settings. Try again as long as the server does not answer.
   * @param {Choice} choice @param {number} id the number of the request; an outdated one is dropped
   * @param {number} count number of attempts so far
   */
  async function attempt(choice, id, count) {
    controller = new AbortController();
    const { signal } = controller;
    const answer = await askPython("curves", getCurvesArguments(choice), { signal });
    if (id !== latest) return;
    if (answer.again) {
      if (answer.busy) onStatus("waiting", PENDING_TEXT);
      else onStatus("gone", "The server does not answer: not confirmed by torch");
      const pause = Math.min(1000 * 2 ** (count - 1), MAX_WAIT_MS);
      timer = setTimeout(() => attempt(choice, id, count + 1), pause);
      return;
    }
    clearTimeout(slowTimer);
    if (answer.lacks) return onStatus("computed", answer.message);
    const decoded = decodeCurves(answer);
    if ("message" in decoded) return onStatus("refused", decoded.message);
    onAnswer(decoded, choice);
    onStatus("confirmed", CONFIRMED_TEXT);
  }

  return { ask, drop };
}

/**
 * Decode the curves in an answer from Python. Returns a message if the answer is invalid or has one.
 * @param {*} answer @returns {Answer|{message: string}}
 */
export function decodeCurves(answer) {
  if (typeof answer?.message === "string") return { message: answer.message };
  if (answer?.curves) return answer; // stored answers are decoded already
  try {
    const { kinks, head, main, rest, below = "" } = answer;
    const [x, y, marks] = [answer.x, answer.y, answer.marks].map(decodeArray);
    const [gradients, parts, spread] = [answer.gradients, answer.parts, answer.spreads ?? {}].map((encoded) =>
      Object.fromEntries(Object.entries(encoded).map(([key, value]) => [key, decodeArray(value)])),
    );
    const unbiased = answer.unbiased ? decodeArray(answer.unbiased) : null;
    const all = [y, marks, ...[gradients, parts, spread].flatMap((record) => Object.values(record))];
    if (unbiased) all.push(unbiased);
    if (all.some((values) => values.length !== x.length)) throw new Error("lengths differ");
    if ([head, main, rest, below].some((text) => typeof text !== "string"))
      throw new Error("words are missing");
    const exact = unbiased && { x, marks, y: unbiased };
    const curves = { x, y, marks, gradients, parts, kinks, spread, exact };
    return { curves, words: { head, main, rest, below } };
  } catch {
    return { message: "The server sent an invalid answer: not confirmed by torch" };
  }
}
