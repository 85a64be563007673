// Query parameters declared in explorer/instrument/view.py, with defaults, and their values as text.

import { getCatalogue } from "./entries.js";
import { getOwn } from "../formula/records.js";

/**
 * Values of the query parameters for the display of a page.
 * @typedef {object} View
 * @property {[number, number]} range ends of the x axis
 * @property {number} g the upstream gradient
 * @property {string} f the loss of a stochastic op's output, a formula of y
 * @property {string} layer key of the further curve over the op, or ""
 * @property {string} noise distribution of the noise added to x
 * @property {number} noise_width width of that noise, in units of x
 * @property {string} section key of the open section below the chart, or ""
 * @property {string} tools the open tools: "all", one of Train's, or ""
 */
/**
 * The declaration of a query parameter. ``words``: labels of the allowed values; ``refusal``: a notice for others.
 * @typedef {{name: string, kind: "number"|"range"|"choice"|"loss", default: *, meaning: string, low: number, high:
 *   number, words: Record<string, string>, refusal: string}} QueryParameter
 */

const isNumber = Number.isFinite;
/** @type {Record<QueryParameter["kind"], (value: *) => boolean>} */
const IS_KIND = {
  number: isNumber,
  range: (value) => Array.isArray(value) && value.length === 2 && value.every(isNumber),
  choice: (value) => typeof value === "string",
  loss: (value) => typeof value === "string",
};

/** Return the default values of all query parameters. @returns {View} */
export function getDefaultView() {
  return mapQueryParameters((declared) => declared.default);
}

/** Return the properties of an object that are query parameters. @param {*} values @returns {View} */
export function pickView(values) {
  return mapQueryParameters(({ name }) => getOwn(values, name));
}

/** Return whether an object has a valid value for every query parameter. @param {*} values */
export function isView(values) {
  return getCatalogue().view.every(({ name, kind }) => IS_KIND[kind](getOwn(values, name)));
}

/**
 * List the name and text of each query parameter that differs from its default.
 * @param {View} view @returns {[string, string][]}
 */
export function toLinkTexts(view) {
  return getCatalogue().view.flatMap(({ name, default: usual }) => {
    const value = /** @type {*} */ (getOwn(view, name));
    const texts = [value].flat().map((each) => /** @type {[string, string]} */ ([name, String(each)]));
    return String(value) === String(usual) ? [] : texts;
  });
}

/** Return the declaration of a query parameter: its kind, default and bounds. @param {string} name */
export function getQueryParameter(name) {
  return /** @type {QueryParameter} */ (getCatalogue().view.find((declared) => declared.name === name));
}

/** Return the bounds of a numeric query parameter. @param {keyof View} name @returns {[number, number]} */
export function getQueryBounds(name) {
  const { low, high } = getQueryParameter(name);
  return [low, high];
}

/**
 * Return an object with a value for each query parameter.
 * @param {(declared: QueryParameter) => *} valueOf @returns {View}
 */
export function mapQueryParameters(valueOf) {
  return /** @type {*} */ (Object.fromEntries(getCatalogue().view.map((one) => [one.name, valueOf(one)])));
}
