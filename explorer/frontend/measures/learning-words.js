// Sentences on a parameter that learns: its direction under each rule, its points of rest. Python holds the words.

import { digits, filled, listed } from "../formula/phrases.js";

/** @typedef {Record<string, string>} Words templates by name, with fields in braces */

/**
 * The sentence on the direction of a parameter under one rule, and on the sum behind it.
 * @param {Words} words
 * @param {import("./pull.js").Pull} pull
 * @param {string} rule its label
 * @param {string} name
 */
export function pullWords(words, { verdict, total, factor, gradient, scaled }, rule, name) {
  const texts = { total: digits(total), factor: digits(factor), gradient: digits(gradient) };
  const sum = filled(words[scaled ? "scaled" : "sum"], texts);
  return filled(words[verdict], { rule, name, sum });
}

/**
 * Sentences on the points of rest under each rule, and on the value of least error.
 * @param {Words} words
 * @param {import("./pull.js").Rest} rest
 * @param {{key: string, label: string}[]} rules
 * @param {string} name
 * @param {number} most points of rest that are named one by one
 */
export function restWords(words, rest, rules, name, most) {
  const sentences = rules
    .filter(({ key }) => rest.places[key])
    .map(({ key, label }) => placeWords(words, rest, { key, label }, name, most));
  return rest.least === null
    ? sentences
    : [...sentences, filled(words.least, { name, at: digits(rest.least) })];
}

/**
 * @param {Words} words
 * @param {import("./pull.js").Rest} rest
 * @param {{key: string, label: string}} rule
 * @param {string} name
 * @param {number} most
 */
function placeWords(words, { at, places: all, gradients }, { key, label: rule }, name, most) {
  const places = all[key];
  const manner = mannerOf(places.length, most, gradients[key]);
  const stretch = (/** @type {[number, number]} */ [low, high]) =>
    low === high ? digits(low) : filled(words.stretch, { low: digits(low), high: digits(high) });
  const ends = manner === "many" ? places.flat() : [at[0], at[at.length - 1]];
  return filled(words[manner], {
    rule,
    name,
    count: places.length,
    low: digits(Math.min(...ends)),
    high: digits(Math.max(...ends)),
    places: listed(places.map(stretch)),
  });
}

/**
 * The template for a number of points of rest.
 * @param {number} places
 * @param {number} most
 * @param {Float64Array} gradient
 */
function mannerOf(places, most, gradient) {
  if (places) return places <= most ? "places" : "many";
  if (!gradient.every(Number.isFinite)) return "unknown";
  if (gradient.every((value) => value === 0)) return "still";
  if (gradient.every((value) => value <= 0)) return "grows";
  return gradient.every((value) => value >= 0) ? "shrinks" : "nowhere";
}
