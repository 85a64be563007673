/** Curves as a table in text: the columns and numbers of ``explorer.sample(…).to_csv(index=False)``. */

import { formatFloat, formatFloat32 } from "../formula/python.js";

/**
 * @typedef {Float64Array|Float32Array} Floats
 * @typedef {{x: Floats, y: Floats, gradients: Record<string, Floats|null>,
 *   parts: Record<string, Floats|null>,
 *   drawn?: {spread: Record<string, Floats>, exact: {y: Floats, isPast?: boolean}|null}|null}} Sampled ``drawn`` where
 *   y and gradients are means
 */

/** A column by its name, null where nothing of it is known. @typedef {[name: string, values: Floats|null|undefined]} Column */

/**
 * The columns of a rule, as ``explorer.sample`` has them.
 * @param {Sampled} curves
 * @param {string} key
 * @param {boolean} learning whether there is a column for a parameter that learns
 * @returns {Column[]}
 */
export function columnsOf({ x, y, gradients, parts, drawn }, key, learning) {
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
 * The table: a block a rule, on the same x. What is not known is an empty field, as NaN is.
 * @param {Sampled} curves of float32 or float64 numbers, which are written as such
 * @param {string[]} rules their keys, in order
 * @param {boolean} learning whether there is a column for a parameter that learns
 */
export function csvText(curves, rules, learning) {
  const text = curves.x instanceof Float32Array ? formatFloat32 : formatFloat;
  const field = (/** @type {number|undefined} */ value) =>
    value === undefined || Number.isNaN(value) ? "" : text(value);
  const rows = rules.flatMap((key) => {
    const name = quoted(key);
    const columns = columnsOf(curves, key, learning);
    return Array.from(
      curves.x,
      (_, index) => `${[name, ...columns.map(([, values]) => field(values?.[index]))].join(",")}\n`,
    );
  });
  const names = columnsOf(curves, rules[0], learning).map(([name]) => name);
  return `${["rule", ...names].join(",")}\n${rows.join("")}`;
}

/** A text as a field. @param {string} text */
export function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
