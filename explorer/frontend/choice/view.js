// The query parameters that explorer/instrument/view.py declares, with their defaults and link texts.

import { getCatalogue } from "./entries.js";
import { getOwn } from "../formula/records.js";

/**
 * The values of the query parameters.
 * @typedef {object} View
 * @property {[number, number]} range of x
 * @property {number} g the upstream gradient
 * @property {string} f the loss of stochastic ops and rules, a formula of y
 * @property {string} layer drawn over the op, or ""
 * @property {string} noise of the lens
 * @property {number} noise_width width of the noise
 * @property {string} section open below the chart, or ""
 * @property {string} tools the open tools: "all", one of Train's, or ""
 */
/**
 * The declaration of a query parameter, as explorer/instrument/view.py makes it.
 * @typedef {{name: string, kind: "number"|"range"|"choice"|"loss", default: *, meaning: string, low: number, high: number,
 *   words: Record<string, string>, refusal: string}} Word
 */

const isNumber = Number.isFinite;
/** The functions that check whether a value has a given kind. @type {Record<Word["kind"], (value: *) => boolean>} */
const IS_KIND = {
  number: isNumber,
  range: (value) => Array.isArray(value) && value.length === 2 && value.every(isNumber),
  choice: (value) => typeof value === "string",
  loss: (value) => typeof value === "string",
};

/** Return the default value of every query parameter. @returns {View} */
export function getDefaultView() {
  return mapWords((word) => word.default);
}

/** Return only those entries of an object that are query parameters. @param {*} values @returns {View} */
export function pickView(values) {
  return mapWords(({ name }) => getOwn(values, name));
}

/** Return whether every query parameter has a value of the right kind. @param {*} values */
export function isView(values) {
  return getCatalogue().view.every(({ name, kind }) => IS_KIND[kind](getOwn(values, name)));
}

/** Format the query parameters that differ from their defaults. @param {View} view @returns {[string, string][]} */
export function toLinkTexts(view) {
  return getCatalogue().view.flatMap((word) => {
    const value = /** @type {*} */ (getOwn(view, word.name));
    const texts = [value].flat().map((each) => /** @type {[string, string]} */ ([word.name, String(each)]));
    return String(value) === String(word.default) ? [] : texts;
  });
}

/** Return the declaration of a query parameter: its kind, default and bounds. @param {string} name */
export function getWord(name) {
  return /** @type {Word} */ (getCatalogue().view.find((word) => word.name === name));
}

/** Return the bounds of a numeric query parameter. @param {keyof View} name @returns {[number, number]} */
export function getWordBounds(name) {
  const { low, high } = getWord(name);
  return [low, high];
}

/** Compute a value for every query parameter. @param {(word: Word) => *} valueOf @returns {View} */
export function mapWords(valueOf) {
  return /** @type {*} */ (Object.fromEntries(getCatalogue().view.map((word) => [word.name, valueOf(word)])));
}
