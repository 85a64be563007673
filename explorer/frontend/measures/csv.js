/** Curves as CSV, with the columns and numbers of ``explorer.sample(…)``. */

import { formatExact } from "../formula/numbers.js";

/**
 * @typedef {Float64Array|Float32Array} Floats values of a curve
 * @typedef {{x: Floats, y: Floats, gradients: Record<string, Floats|null>, parts: Record<string, Floats|null>, drawn?:
 *   {spread: Record<string, Floats>, exact: {y: Floats, isPast?: boolean}|null}|null}} Sampled an op's curves, null for
 *   unknown ones; ``drawn``: if y and gradients are means over random numbers, their standard deviations and the
 *   unbiased gradient
 */

/**
 * The name and values of a column. Null or undefined values are unknown.
 * @typedef {[name: string, values: Floats|null|undefined]} Column
 */

/**
 * Return the CSV columns of a backward rule's curve, as in ``explorer.sample``.
 * @param {Sampled} curves @param {string} key the rule's key
 * @param {boolean} learning whether to add a column for the gradient of a parameter @returns {Column[]}
 */
export function listCsvColumns({ x, y, gradients, parts, drawn }, key, learning) {
  return [
    ["x", x],
    ["y", y],
    ["gradient", gradients[key]],
    .../** @type {Column[]} */ (
      drawn
        ? [
            ["y_sd", drawn.spread.forward],
            ["gradient_sd", drawn.spread[key]],
            ["unbiased", drawn.exact?.isPast ? null : drawn.exact?.y],
          ]
        : []
    ),
    .../** @type {Column[]} */ (learning ? [["part", parts[key]]] : []),
  ];
}

/**
 * Format curves as CSV, with one block of rows for each backward rule. Unknown values and NaN are empty fields.
 * @param {Sampled} curves float32 or float64, written with that precision
 * @param {string[]} rules keys in the order of the blocks
 * @param {boolean} learning whether to add a column for the gradient of a parameter
 */
export function makeCsv(curves, rules, learning) {
  const formatField = (/** @type {number|undefined} */ value) =>
    value === undefined || Number.isNaN(value) ? "" : formatExact(value, curves.x);
  const rows = rules.flatMap((key) => {
    const name = quote(key);
    const columns = listCsvColumns(curves, key, learning);
    return Array.from(
      curves.x,
      (_, index) => `${[name, ...columns.map(([, values]) => formatField(values?.[index]))].join(",")}\n`,
    );
  });
  const names = listCsvColumns(curves, rules[0], learning).map(([name]) => name);
  return `${["rule", ...names].join(",")}\n${rows.join("")}`;
}

/** Quote a CSV field if it contains special characters. @param {string} text */
export function quote(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
