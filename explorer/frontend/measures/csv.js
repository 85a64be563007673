/** Curves as a table in text: the columns and numbers of ``explorer.sample(…).to_csv(index=False)``. */

import { floatText, singleText } from "../formula/python.js";

/**
 * @typedef {Float64Array|Float32Array} Floats
 * @typedef {{x: Floats, y: Floats, gradients: Record<string, Floats|null>,
 *   parts: Record<string, Floats|null>}} Sampled
 */

/**
 * The table: a block a rule, on the same x. What is not known is an empty field, as NaN is.
 * @param {Sampled} curves of float32 or float64 numbers, which are written as such
 * @param {string[]} rules their keys, in order
 * @param {boolean} learning whether there is a column for a parameter that learns
 */
export function csvText({ x, y, gradients, parts }, rules, learning) {
  const text = x instanceof Float32Array ? singleText : floatText;
  const field = (/** @type {number|undefined} */ value) =>
    value === undefined || Number.isNaN(value) ? "" : text(value);
  const rows = rules.flatMap((key) => {
    const name = quoted(key);
    return Array.from(x, (at, index) => {
      const numbers = [at, y[index], gradients[key]?.[index], ...(learning ? [parts[key]?.[index]] : [])];
      return `${[name, ...numbers.map(field)].join(",")}\n`;
    });
  });
  return `rule,x,y,gradient${learning ? ",part" : ""}\n${rows.join("")}`;
}

/** A text as a field. @param {string} text */
export function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
