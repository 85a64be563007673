// The words of a link that Python declares (explorer/instrument/view.py): their defaults, their texts in a link.

import { catalogue } from "./entries.js";
import { held } from "../formula/records.js";

/**
 * The values of the words.
 * @typedef {object} View
 * @property {[number, number]} range of x
 * @property {number} g the upstream gradient
 * @property {string} f the loss of what is drawn, a formula of y
 * @property {string} layer that is drawn over the op, or ""
 * @property {string} noise through which the lens shows the op
 * @property {number} noise_width of that noise
 * @property {string} section that is open below the chart, or ""
 * @property {string} tools that are open: "all", one of Train's, or ""
 */
/**
 * The row of a word: see Word in explorer/instrument/view.py.
 * @typedef {{name: string, kind: "number"|"range"|"choice"|"loss", default: *, meaning: string, low: number, high: number,
 *   words: Record<string, string>, refusal: string}} Word
 */

const isNumber = Number.isFinite;
/** Whether a value is of a kind. @type {Record<Word["kind"], (value: *) => boolean>} */
const IS_OF = {
  number: isNumber,
  range: (value) => Array.isArray(value) && value.length === 2 && value.every(isNumber),
  choice: (value) => typeof value === "string",
  loss: (value) => typeof value === "string",
};

/** The view of a link without words. @returns {View} */
export function defaultView() {
  return viewWith((word) => word.default);
}

/** The words of a view among other values. @param {*} values @returns {View} */
export function viewOf(values) {
  return viewWith(({ name }) => held(values, name));
}

/** Whether each word has a value of its kind. @param {*} values */
export function isView(values) {
  return catalogue().view.every(({ name, kind }) => IS_OF[kind](held(values, name)));
}

/** The words that are not at their default as a link holds them. @param {View} view @returns {[string, string][]} */
export function viewTexts(view) {
  return catalogue().view.flatMap((word) => {
    const value = /** @type {*} */ (held(view, word.name));
    const texts = [value].flat().map((each) => /** @type {[string, string]} */ ([word.name, String(each)]));
    return String(value) === String(word.default) ? [] : texts;
  });
}

/** The row of a word. @param {string} name */
export function wordOf(name) {
  return /** @type {Word} */ (catalogue().view.find((word) => word.name === name));
}

/** The bounds of a number or of the ends of a range. @param {keyof View} name @returns {[number, number]} */
export function boundsOfWord(name) {
  const { low, high } = wordOf(name);
  return [low, high];
}

/** A view with a value for each word. @param {(word: Word) => *} valueOf @returns {View} */
export function viewWith(valueOf) {
  return /** @type {*} */ (Object.fromEntries(catalogue().view.map((word) => [word.name, valueOf(word)])));
}
