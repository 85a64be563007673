/**
 * The gradient that given data send to a parameter, and its points of rest; as in tests/description/resting.py, with the
 * upstream gradient y − x of each number.
 *
 * @typedef {{values: Float64Array, weights: Float64Array|null, count: number}} Numbers ``weights`` says how often
 *   each value is there, null for once; ``count`` how many numbers there are in all
 * @typedef {"grow"|"shrink"|"rest"|"undefined"|"cannot"} Verdict
 *
 * @typedef {object} Pull
 * @property {Verdict} verdict
 * @property {import("../formula/contribution.js").Origin|""} origin
 * @property {number} total sum of the parts
 * @property {number} factor of the sum
 * @property {number} gradient for the parameter
 * @property {boolean} scaled whether the rule has a factor
 *
 * @typedef {[number, number]} Stretch where a parameter comes to rest: the ends of a stretch, or twice the same
 *
 * @typedef {object} Rest
 * @property {Float64Array} at values of the parameter, ascending
 * @property {Float64Array} error mean squared error of what the op makes of the numbers
 * @property {Record<string, Float64Array>} gradients by rule key: the mean of the parts, without a scale
 * @property {Record<string, Stretch[]>} places by rule key
 * @property {number|null} least where the error is least
 *
 * @typedef {{steps: number, halvings: number, balanced: number}} Resting how finely it is looked for
 */

import { contributionOf, factorOf } from "../formula/contribution.js";
import { shownName } from "../formula/controls.js";
import { valuesOf } from "../formula/curves.js";
import { evaluate } from "../formula/evaluation.js";

/** @import { Op, Parameter, Rule } from "../formula/entry.js" */

/**
 * @param {Op} op
 * @param {Rule} rule
 * @param {string} name of the parameter
 * @param {Numbers} numbers
 * @param {Record<string, number>} settings
 * @param {Resting} resting
 * @returns {Pull}
 */
export function pullOf(op, rule, name, numbers, settings, { balanced }) {
  const contribution = contributionOf(op, rule, name);
  if (!contribution)
    return { verdict: "cannot", origin: "", total: 0, factor: 1, gradient: 0, scaled: false };
  const parameters = valuesOf(op, rule, settings);
  const { x, y } = forwardOf(op, parameters, numbers);
  const g = y.map((value, i) => value - x[i]);
  const [up, down] = sums(evaluate(contribution.tree, { x, y, g, parameters }), numbers.weights);
  const total = up + down;
  const factor = factorOf(contribution, parameters, numbers.count);
  const gradient = factor * total;
  const { origin, scale } = contribution;
  return { verdict: verdictOf(), origin, total, factor, gradient, scaled: scale !== null };

  /** @returns {Verdict} */
  function verdictOf() {
    if (!Number.isFinite(gradient)) return "undefined";
    if (Math.abs(total) <= balanced * (down - up)) return "rest";
    return gradient < 0 ? "grow" : "shrink";
  }
}

/** @param {Op} op @param {Record<string, number>} parameters @param {Numbers} numbers */
function forwardOf(op, parameters, { values: x }) {
  return { x, y: evaluate(op.tree, { x, parameters }) };
}

/** The sums of the negative and of the positive parts. @param {Float64Array} parts @param {Float64Array|null} weights */
function sums(parts, weights) {
  let [up, down] = [0, 0];
  for (let i = 0; i < parts.length; i += 1) {
    const part = weights ? weights[i] * parts[i] : parts[i];
    if (part < 0) up += part;
    else down += part; // and what is not a number
  }
  return [up, down];
}

/**
 * A parameter over the range of its control.
 * @param {Op} op
 * @param {Rule[]} rules
 * @param {string} name
 * @param {Numbers} numbers
 * @param {Record<string, number>} settings
 * @param {Resting} resting
 */
export function restOf(op, rules, name, numbers, settings, resting) {
  const learning = rules.filter((rule) => contributionOf(op, rule, name));
  const every = [op, ...learning].flatMap((entry) => entry.parameters);
  const parameter = /** @type {Parameter} */ (every.find((one) => one.name === name));
  const at = grid(parameter, resting.steps);
  /** @type {Rest} */
  const rest = { at, error: new Float64Array(0), gradients: {}, places: {}, least: null };
  for (const rule of learning) {
    const mean = (/** @type {number} */ value) => {
      const pull = pullOf(op, rule, name, numbers, changed(settings, rule, name, value), resting);
      return pull.verdict === "rest" ? 0 : pull.total / numbers.count;
    };
    rest.gradients[rule.key] = at.map(mean);
    rest.places[rule.key] = placesOf(at, rest.gradients[rule.key], mean, resting.halvings);
  }
  const [first] = learning;
  rest.error = at.map((value) =>
    errorOf(op, numbers, valuesOf(op, first, changed(settings, first, name, value))),
  );
  rest.least = leastOf(at, rest.error, resting);
  return rest;
}

/** @param {Parameter} parameter @param {number} steps */
function grid({ low, high, scale }, steps) {
  return Float64Array.from({ length: steps }, (_, index) => {
    const share = index / (steps - 1);
    return scale === "log" ? low * (high / low) ** share : low + (high - low) * share;
  });
}

/** @param {Record<string, number>} settings @param {Rule} rule @param {string} name @param {number} value */
function changed(settings, rule, name, value) {
  const own = rule.parameters.find((parameter) => parameter.name === name);
  return { ...settings, [name]: value, [`${rule.key}.${own ? shownName(own) : name}`]: value };
}

/** @param {Op} op @param {Numbers} numbers @param {Record<string, number>} parameters */
function errorOf(op, numbers, parameters) {
  const { x, y } = forwardOf(op, parameters, numbers);
  const squares = y.map((value, i) => (value - x[i]) ** 2 * (numbers.weights?.[i] ?? 1));
  return squares.reduce((sum, square) => sum + square, 0) / numbers.count;
}

/** The value of least error, the first of several. @param {Float64Array} at @param {Float64Array} error @param {Resting} resting */
function leastOf(at, error, { balanced }) {
  const finite = error.filter(Number.isFinite);
  const most = (1 + balanced) * Math.min(...finite);
  return finite.length ? at[error.findIndex((value) => value <= most)] : null;
}

/**
 * The stretches at which gradient descent ends: the gradient is below 0 on the left and above on the right, or 0
 * in between. At an end of the range the other side is enough.
 * @param {Float64Array} at
 * @param {Float64Array} gradient
 * @param {(value: number) => number} mean
 * @param {number} halvings
 * @returns {Stretch[]}
 */
function placesOf(at, gradient, mean, halvings) {
  const runs = runsOf(Array.from(gradient, Math.sign));
  const isBelow = (/** @type {number} */ value) => mean(value) < 0;
  /** @type {Stretch[]} */
  const crossings = runs.slice(1).flatMap((right, before) => {
    const left = runs[before];
    if (!(left.sign < 0 && right.sign > 0)) return [];
    const crossing = halved(at[left.last], at[right.first], isBelow);
    return [/** @type {Stretch} */ ([crossing, crossing])];
  });
  const stretches = runs.flatMap(({ sign, first, last }, number) => {
    const [before, after] = [runs[number - 1], runs[number + 1]];
    const rests = sign === 0 && (before?.sign ?? -1) < 0 && (after?.sign ?? 1) > 0 && runs.length > 1;
    if (!rests) return [];
    const low = before ? halved(at[first - 1], at[first], isBelow) : at[0];
    const high = after ? halved(at[last], at[last + 1], (value) => mean(value) <= 0) : at[at.length - 1];
    return [/** @type {Stretch} */ ([low, high])];
  });
  return [...crossings, ...stretches];

  /**
   * The end of a condition that holds at ``low`` and not at ``high``.
   * @param {number} low @param {number} high @param {(value: number) => boolean} isLeft
   */
  function halved(low, high, isLeft) {
    for (let halving = 0; halving < halvings; halving += 1) {
      const middle = (low + high) / 2;
      if (isLeft(middle)) low = middle;
      else high = middle;
    }
    return high;
  }
}

/** Stretches of equal signs. @param {number[]} signs @returns {{sign: number, first: number, last: number}[]} */
function runsOf(signs) {
  /** @type {{sign: number, first: number, last: number}[]} */
  const runs = [];
  signs.forEach((sign, index) => {
    const run = runs[runs.length - 1];
    if (run && (run.sign === sign || (Number.isNaN(run.sign) && Number.isNaN(sign)))) run.last = index;
    else runs.push({ sign, first: index, last: index });
  });
  return runs;
}
