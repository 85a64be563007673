/** Curves as CSV, with the columns and numbers of ``explorer.sample(…)``. */

import { formatExact } from "../formula/numbers.js";

/**
 * The values of a curve, or null for unknown ones.
 *
 * @typedef {Float64Array|Float32Array} Floats values of a curve
 * @typedef {{x: Floats, y: Floats, gradients: Record<string, Floats|null>, parts: Record<string, Floats|null>, drawn?:
 *   {spread: Record<string, Floats>, exact: {y: Floats, isPast?: boolean}|null}|null}} Sampled an op's curves;
 *   ``drawn`` is set if y and gradients are means over random numbers: standard deviations and the unbiased gradient
 */

/** Name and values of a column, null if they are unknown. @typedef {[name: string, values: Floats|null|undefined]} Column */

/**
 * Return the CSV columns of a backward rule's curve, as in ``explorer.sample``.
 * @param {Sampled} curves @param {string} key of the rule
 * @param {boolean} learning whether to add a column for a parameter's gradient @returns {Column[]}
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
 * Format curves as CSV, with one block of rows per backward rule. Unknown values and NaN are empty fields.
 * @param {Sampled} curves float32 or float64, written with that precision
 * @param {string[]} rules keys, in the order of rows
 * @param {boolean} learning whether to add a column for a parameter's gradient
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
