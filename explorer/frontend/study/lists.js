// Lists of numbers as people type them: texts in, numbers or a sentence out. No page.

import { numberText, refusal, typedNumber } from "../formula/numbers.js";

/**
 * The bounds of a list: ``what`` is one of its numbers in words, such as "rate".
 * @typedef {{what: string, low: number, high: number, most: number, example: string}} Bounds
 */

/**
 * The numbers of a text in their order, each once; a sentence where it is none. A comma separates, as a space
 * does; where a semicolon does, a comma is that of a fraction.
 * @param {string} text
 * @param {Bounds} bounds
 * @returns {{numbers: number[], sentence: string}}
 */
export function readList(text, bounds) {
  const { what, low, high, most, example } = bounds;
  const words = text.split(text.includes(";") ? /;/ : /[\s,]+/).filter((word) => word.trim());
  const refused = (/** @type {string} */ sentence) => ({ numbers: [], sentence });
  if (!words.length) return refused(`Name at least one ${what}, such as ${example}.`);
  const values = words.map((word) => ({ word: word.trim(), value: typedNumber(word) }));
  const strange = values.find(({ value }) => value === null);
  if (strange) return refused(refusal(strange.word));
  const numbers = values.map(({ value }) => /** @type {number} */ (value));
  const outside = numbers.find((value) => !(low <= value && value <= high));
  if (outside !== undefined)
    return refused(
      `${numberText(outside)} cannot be: a ${what} lies between ${edge(low)} and ${edge(high)}.`,
    );
  const distinct = [...new Set(numbers)].sort((one, other) => one - other);
  if (distinct.length > most) return refused(`These are ${distinct.length}: at most ${most} can be tried.`);
  return { numbers: distinct, sentence: "" };
}

/** A list as a link writes it. @param {number[]} numbers */
export function listText(numbers) {
  return numbers.join(",");
}

/** The numbers of a list in a link. @param {string} text @returns {number[]} */
export function listOf(text) {
  return text ? text.split(",").map(Number) : [];
}

/** @param {number} value a bound: 1e-12 and not 0.000000000001 */
function edge(value) {
  return Math.abs(value) < 1e-4 && value !== 0 ? value.toExponential() : numberText(value);
}
