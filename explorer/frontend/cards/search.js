// Searches ops and rules by text. Matches in names come before matches in keys, then formulas.

/** @import { Entry } from "../formula/entry.js" */

/**
 * Return the ops or rules that contain every word of a search text, best matches first. An empty text returns all in
 * their original order.
 * @param {Entry[]} entries @param {string} text
 */
export function search(entries, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = entries.map((entry) => ({
    entry,
    rank: Math.max(0, ...words.map((word) => rank(entry, word))),
  }));
  return ranked
    .filter(({ rank }) => rank < Infinity)
    .sort((one, other) => one.rank - other.rank)
    .map(({ entry }) => entry);
}

/**
 * Return how well an entry matches a word. Smaller is better, and Infinity is no match.
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
