// Search for ops and rules by text. Matches in names rank before those in keys, then formulas.

/** @import { Entry } from "../formula/entry.js" */

// Matches a formula rather than a name, although names contain these letters: no name begins with a digit.
const VARIABLE = /^\s*([\d.]|([xyg]\s*)+$)/;

/**
 * Return the ops or rules that contain every word of a search text, best matches first. For an empty text, all are
 * returned in their order.
 * @param {Entry[]} entries @param {string} text
 */
export function search(entries, text) {
  const ranked = entries.map((entry) => ({ entry, rank: rankText(entry, text) }));
  return ranked
    .filter(({ rank }) => rank < Infinity)
    .sort((one, other) => one.rank - other.rank)
    .map(({ entry }) => entry);
}

/** Return whether text is part of the name of an op or rule. @param {Entry} entry @param {string} text */
export const isNamed = (entry, text) => !VARIABLE.test(text) && rankText(entry, text) < 2;

/** Return whether text may be a formula rather than an unknown name. @param {string} text */
export const isFormula = (text) => VARIABLE.test(text) || !/^\s*(\w+\s*)*$/.test(text);

/**
 * Return how well an entry matches a search text: the rank of the worst word. A smaller rank is better.
 * @param {Entry} entry @param {string} text
 */
function rankText(entry, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return Math.max(0, ...words.map((word) => rank(entry, word)));
}

/**
 * Return how well an entry matches a word. A smaller rank is better; Infinity is no match.
 * @param {Entry} entry @param {string} word
 */
function rank(entry, word) {
  const fields = [[entry.label], [entry.key, ...entry.also], [entry.formula ?? ""], [entry.purpose]];
  const texts = fields.map((names) => names.map((name) => name.toLowerCase()));
  if (texts[0].concat(texts[1]).includes(word)) return 0;
  const index = texts.findIndex((names) => names.some((name) => name.includes(word)));
  if (index < 0) return Infinity;
  return index + (texts[index].some((name) => name.startsWith(word)) ? 0.25 : 0.5);
}
