// Pasted numbers, one after another as they stand in a table, a list or a column.

import { refusal, typedNumber } from "../formula/numbers.js";

/**
 * The numbers of a text, or a sentence on the first that cannot be one. Between two stand spaces, line breaks,
 * semicolons or commas; a comma inside a number is read where no point stands in the whole text.
 * @param {string} text
 * @param {{most: number, largest: number}} limits
 * @returns {{values: Float64Array}|{message: string}}
 */
export function numbersIn(text, { most, largest }) {
  const pointed = text.includes(".");
  const parts = text.split(/[\s;[\]()]+/).flatMap((part) => apart(part, pointed));
  if (parts.length > most)
    return {
      message: `${parts.length.toLocaleString("en")} numbers are too many: at most ${most.toLocaleString("en")} are taken.`,
    };
  if (!parts.length) return { message: "There is no number yet: paste some, such as -0.5 0.2 1.75." };
  const values = parts.map(typedNumber);
  const wrong = values.indexOf(null);
  if (wrong >= 0) return { message: `Number ${wrong + 1} cannot be read. ${refusal(parts[wrong])}` };
  const far = values.findIndex((value) => Math.abs(Number(value)) > largest);
  if (far >= 0)
    return { message: `Number ${far + 1}, ${parts[far]}, lies beyond ±${largest.toLocaleString("en")}.` };
  return { values: Float64Array.from(/** @type {number[]} */ (values)) };
}

/** @param {string} part without spaces @param {boolean} pointed @returns {string[]} */
function apart(part, pointed) {
  const pieces = part.split(",").filter(Boolean);
  const whole = !pointed && pieces.length === 2 && /^[^,]+,[^,]+$/.test(part);
  return whole ? [part] : pieces;
}
