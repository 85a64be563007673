/**
 * The gradient of a rule over x and g, as numbers, and the bands of colour that they fall into.
 *
 * @typedef {{columns: number, rows: number, values: Float64Array}} Map ``values`` row by row, the highest g first
 * @typedef {{step: number, count: number}} Bands above 0, each a step high; as many below
 */

import { gradientOf } from "../formula/contribution.js";
import { rangeOf, scopeMaker, valuesOf } from "../formula/curves.js";
import { evaluate, isReduction, operands } from "../formula/evaluation.js";
import { evenPoints } from "../formula/floats.js";

/** @import { Op, Rule } from "../formula/entry.js" */
/** @import { Tree } from "../formula/evaluation.js" */

const MOST_BANDS = 8;
const LARGEST = 5; // times the greatest g: what lies beyond has the last colour
const STEPS = [1, 2, 2.5, 5, 10];

/**
 * Null where only torch knows the rule.
 * @param {Op} op
 * @param {Rule} rule
 * @param {import("../formula/curves.js").Choice} choice
 * @param {number} top g goes from −top to top
 * @param {{columns: number, rows: number}} size
 * @returns {Map|null}
 */
export function mapOf(op, rule, choice, top, { columns, rows }) {
  const tree = gradientOf(op, rule, "");
  if (tree === null) return null;
  const [start, stop] = rangeOf(choice);
  const parameters = valuesOf(op, rule, choice.parameters);
  const x = evenPoints(start, stop, columns);
  const g = evenPoints(-top, top, rows).reverse();
  if (reducesG(tree)) {
    const row = (/** @type {number} */ one) =>
      evaluate(tree, scopeMaker(op, parameters, { start, stop, g: one })(x));
    return { columns, rows, values: Float64Array.from([...g].flatMap((one) => [...row(one)])) };
  }
  const all = new Float64Array(columns * rows);
  const upstream = new Float64Array(columns * rows);
  for (let row = 0; row < rows; row += 1) {
    all.set(x, row * columns);
    upstream.fill(g[row], row * columns, (row + 1) * columns);
  }
  const scope = scopeMaker(op, parameters, { start, stop, g: 1 })(all);
  return { columns, rows, values: evaluate(tree, Object.assign(scope, { g: upstream })) };
}

/**
 * The gradient at one x, for the g of the choice; null where only torch knows the rule.
 * @param {Op} op
 * @param {Rule} rule
 * @param {import("../formula/curves.js").Choice} choice
 * @param {number} x
 */
export function gradientAt(op, rule, choice, x) {
  const tree = gradientOf(op, rule, "");
  if (tree === null) return null;
  const [start, stop] = rangeOf(choice);
  const scope = scopeMaker(op, valuesOf(op, rule, choice.parameters), { start, stop, g: choice.g });
  return evaluate(tree, scope(Float64Array.of(x)))[0];
}

/** Whether a tree takes a mean of g, which is another one in each row. @param {Tree} tree @returns {boolean} */
function reducesG(tree) {
  if (typeof tree === "number") return false;
  return isReduction(tree) ? has(tree, "g") : operands(tree).some(reducesG);
}

/** @param {Tree} tree @param {string} name @returns {boolean} */
function has(tree, name) {
  if (typeof tree === "number") return false;
  return (tree[0] === "name" && tree[1] === name) || operands(tree).some((part) => has(part, name));
}

/** The bands that all maps share. @param {Map[]} maps @param {number} top */
export function bandsOf(maps, top) {
  let largest = 0;
  for (const { values } of maps)
    for (const value of values)
      if (Math.abs(value) <= LARGEST * top) largest = Math.max(largest, Math.abs(value));
  const least = (largest || top) / MOST_BANDS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * /** @type {number} */ (STEPS.find((factor) => factor * power >= least * (1 - 1e-9)));
  return { step, count: Math.max(1, Math.ceil((largest || top) / step - 1e-9)) };
}

/** The band of a value: 0 for 0, from 1 on above it, from −1 on below. @param {number} value @param {Bands} bands */
export function bandOf(value, { step, count }) {
  if (value === 0) return 0;
  return Math.sign(value) * Math.min(count, Math.max(1, Math.ceil(Math.abs(value) / step - 1e-9)));
}
