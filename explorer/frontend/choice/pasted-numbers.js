// Numbers that the user pastes from a table, list or column.

import { explainInvalidNumber, parseNumber } from "../formula/numbers.js";

/**
 * Parse the numbers in a text. They are separated by whitespace, semicolons or commas. A comma can also be a decimal
 * comma if the text has no point.
 * @param {string} text
 * @param {{most: number, largest: number}} limits ``most``: maximum count; ``largest``: maximum absolute value
 * @returns {{values: Float64Array}|{message: string}} a message if there is no number, or about the first invalid one
 */
export function parseNumbers(text, { most: maxCount, largest }) {
  const hasPoint = text.includes(".");
  const parts = text.split(/[\s;[\]()]+/).flatMap((part) => splitAtCommas(part, hasPoint));
  if (parts.length > maxCount)
    return {
      message: `${parts.length.toLocaleString("en")} numbers are too many: paste at most ${maxCount.toLocaleString("en")}.`,
    };
  if (!parts.length) return { message: "There is no number yet: paste some, such as -0.5 0.2 1.75." };
  const values = parts.map(parseNumber);
  const firstInvalid = values.indexOf(null);
  if (firstInvalid >= 0)
    return {
      message: `Number ${firstInvalid + 1} cannot be read. ${explainInvalidNumber(parts[firstInvalid])}`,
    };
  const firstOutOfBounds = values.findIndex((value) => Math.abs(Number(value)) > largest);
  if (firstOutOfBounds >= 0)
    return {
      message: `Number ${firstOutOfBounds + 1}, ${parts[firstOutOfBounds]}, is out of range: use numbers from −${largest.toLocaleString("en")} to ${largest.toLocaleString("en")}.`,
    };
  return { values: Float64Array.from(/** @type {number[]} */ (values)) };
}

/**
 * Split text at its commas. A single comma that may be a decimal comma does not split it.
 * @param {string} part a text without spaces @param {boolean} hasPoint whether the pasted text uses a decimal point
 * @returns {string[]}
 */
function splitAtCommas(part, hasPoint) {
  const pieces = part.split(",").filter(Boolean);
  const isDecimalComma = !hasPoint && pieces.length === 2 && /^[^,]+,[^,]+$/.test(part);
  return isDecimalComma ? [part] : pieces;
}
