// What an event holds, as arrays and as series of a chart.

import { array } from "../formula/arrays.js";

/** @typedef {import("./rows.js").Rule} Rule */
/** @typedef {import("./chart.js").Series} Series */

/** A snapshot with its arrays read. @param {*} value @returns {*} */
export function withArrays(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  if ("bdata" in value) return array(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withArrays(part)]));
}

/** One curve a rule. @param {*} snapshot @param {Rule[]} rules @returns {Series[]} */
export function lossSeries({ loss_steps: steps, losses }, rules) {
  return rules.map(({ key, label, colour }) => ({
    name: label,
    meta: key,
    colour,
    x: steps[key],
    y: losses[key],
  }));
}

/** Two curves a rule: w1 solid, w2 dotted. @param {*} snapshot @param {Rule[]} rules @returns {Series[]} */
export function normSeries({ loss_steps: steps, w1_norms: w1, w2_norms: w2 }, rules) {
  return rules.flatMap(({ key, label, colour }) => [
    { name: `${label}, w1`, colour, x: steps[key], y: w1[key] },
    { name: `${label}, w2`, colour, x: steps[key], y: w2[key], dash: "dot" },
  ]);
}
