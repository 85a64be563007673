// Lists of numbers as users type them: parsing and formatting.

import { formatNumber, explainInvalidNumber, parseNumber } from "../formula/numbers.js";

/**
 * The limits of a list. ``what``: a noun for one number, such as "rate"; ``most``: maximum length; ``low``, ``high``:
 * bounds of each number; ``example``: a valid list.
 * @typedef {{what: string, low: number, high: number, most: number, example: string}} Bounds
 */

/**
 * Parse a list of numbers. Commas and spaces separate numbers; if there are semicolons, these do, and commas are
 * decimal commas.
 * @param {string} text @param {Bounds} bounds
 * @returns {{numbers: number[], sentence: string}} ``numbers``: the numbers in ascending order without duplicates, or
 *   []; ``sentence``: a message about the first error, or ""
 */
export function readList(text, bounds) {
  const { what, low, high, most, example } = bounds;
  const words = text.split(text.includes(";") ? /;/ : /[\s,]+/).filter((word) => word.trim());
  const reject = (/** @type {string} */ sentence) => ({ numbers: [], sentence });
  if (!words.length) return reject(`Name at least one ${what}, such as ${example}.`);
  const values = words.map((word) => ({ word: word.trim(), value: parseNumber(word) }));
  const invalid = values.find(({ value }) => value === null);
  if (invalid) return reject(explainInvalidNumber(invalid.word));
  const numbers = values.map(({ value }) => /** @type {number} */ (value));
  const outside = numbers.find((value) => !(low <= value && value <= high));
  if (outside !== undefined)
    return reject(
      `${formatNumber(outside)} is not allowed: a ${what} must be from ${formatBound(low)} to ${formatBound(high)}.`,
    );
  const distinct = [...new Set(numbers)].sort((one, other) => one - other);
  if (distinct.length > most) return reject(`These are ${distinct.length} ${what}s: enter at most ${most}.`);
  return { numbers: distinct, sentence: "" };
}

/** Format a bound with few characters, such as 1e-12. @param {number} value */
function formatBound(value) {
  return Math.abs(value) < 1e-4 && value !== 0 ? value.toExponential() : formatNumber(value);
}
