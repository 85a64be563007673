/**
 * A random unit that outputs 1 with probability p = sigmoid(x), while x descends by an estimated gradient of the mean
 * loss. See ``Walker`` in explorer/lessons/pictures.py.
 * @typedef {object} StochasticUnit the unit, with its loss and gradient estimators as formulas
 * @property {Tree} op formula of the output @property {Tree} loss formula in the output y
 * @property {Tree} slope derivative of the loss by y @property {Tree} mean_loss formula in x
 * @property {Tree} exact derivative of the mean loss by x
 * @property {Record<string, Tree>} estimators formulas of estimated gradients, by name
 * @property {Control} start initial p of all runs @property {Control} rate learning rate
 * @property {Control[]} parameters parameters of the loss and the estimators
 * @property {number} steps number of steps of each run @property {number} runs number of runs that are counted
 * @property {number} seed seed of the random numbers @property {number} drawn number of runs that are plotted
 * @typedef {{name: string, default: number, low: number, high: number, meaning: string}} Control a setting with its
 *   bounds
 * @typedef {{p: number, rate: number, parameters: Record<string, number>}} Settings current values: p, learning rate,
 *   and the estimators' parameters
 * @typedef {{mean: number, sd: number, exact: number}} Measured mean and standard deviation of an estimator, and the
 *   exact gradient
 */

import { resolveTree, drawUniforms } from "../../formula/draws.js";
import { evaluate, getOperands, UNIFORM } from "../../formula/evaluation.js";
import { makeEvenPoints } from "../../formula/floats.js";
import { FUNCTIONS } from "../../formula/functions.js";
import { computeMoments, makeQuantiles } from "../../formula/means.js";

/** @import { Tree } from "../../formula/evaluation.js" */

const MAX_X = 6; // largest |x| for which means are computed, that is p from 0.0025 to 0.9975
const POINTS = 121;
// quantiles of the random number u on each side of p and 1 − p, where an estimator may jump
const [FEW_QUANTILES, MANY_QUANTILES] = [101, 2001];
const ZERO = 1e-9; // smaller gradients are rounding errors

/** Return the probability of a 1, the sigmoid of x. @param {number} x */
export const sigmoid = (x) => FUNCTIONS.sigmoid(x);
/** Return the x whose sigmoid is p. @param {number} p */
export const toLogit = (p) => Math.log(p / (1 - p));

/**
 * Rewrite the formulas of all gradient estimators in terms of x and random numbers.
 * @param {StochasticUnit} unit @returns {Record<string, Tree>}
 */
export function resolveEstimators({ op, loss, slope, estimators }) {
  const unit = /** @type {import("../../formula/entry.js").Op} */ ({ tree: op });
  const lossEntry = { key: "", text: "", tree: loss, gradient: slope, parameters: [] };
  return Object.fromEntries(
    Object.entries(estimators).map(([name, tree]) => [name, resolveTree(tree, unit, lossEntry)]),
  );
}

/** Return whether a formula has a parameter. @param {Tree} tree @param {string} name @returns {boolean} */
export function hasName(tree, name) {
  if (typeof tree === "number") return false;
  return tree[0] === "name" ? tree[1] === name : getOperands(tree).some((part) => hasName(part, name));
}

/** @param {Tree} tree @param {number[]} x @param {Settings} settings */
const evaluateAt = (tree, x, { parameters }) => evaluate(tree, { x: Float64Array.from(x), g: 1, parameters });

/** Return the loss for each output y. @param {StochasticUnit} unit @param {number[]} y @param {Settings} settings */
export function evaluateLoss({ loss }, y, { parameters }) {
  const output = Float64Array.from(y);
  return evaluate(loss, { x: output, y: output, parameters });
}

/** Return the mean loss of the unit at p. @param {StochasticUnit} unit @param {number} p @param {Settings} settings */
export const evaluateMeanLoss = (unit, p, settings) => evaluateAt(unit.mean_loss, [toLogit(p)], settings)[0];

/**
 * Return the mean and standard deviation of a gradient estimator at the current p, and the exact gradient.
 * @param {StochasticUnit} unit @param {Tree} estimator the estimator's formula, from ``resolveEstimators``
 * @param {Settings} settings @returns {Measured}
 */
export function measureEstimator(unit, estimator, settings) {
  const x = toLogit(settings.p);
  const { mean, spread } = estimateMoments(estimator, x, settings, MANY_QUANTILES);
  const [exact] = evaluateAt(unit.exact, [x], settings);
  return { mean: mean[0], sd: spread[0], exact };
}

/**
 * Return the mean and standard deviation of an estimator at x, from quantiles of the random number.
 * @param {Tree} estimator @param {number} x @param {Pick<Settings, "parameters">} settings
 * @param {number} count number of quantiles in each interval
 */
function estimateMoments(estimator, x, { parameters }, count) {
  const p = sigmoid(x);
  const ends = [0, Math.min(p, 1 - p), Math.max(p, 1 - p), 1];
  return computeMoments(
    [estimator],
    { x: Float64Array.of(x), g: 1, parameters },
    makeQuantiles(ends, count),
  )[0];
}

/**
 * Simulate training runs with independent random numbers. Returns x of all runs before the first step and after each
 * one.
 * @param {StochasticUnit} unit @param {Tree} estimator @param {Settings} settings
 * @param {number} runs number of runs: the first of ``unit.runs``
 */
export function simulateRuns({ steps, seed }, estimator, { p, rate, parameters }, runs) {
  let x = new Float64Array(runs).fill(toLogit(p));
  const all = [x];
  for (let step = 0; step < steps; step += 1) {
    const draws = { [UNIFORM]: drawUniforms(runs, { seed, step }) };
    const estimates = evaluate(estimator, { x, g: 1, draws, parameters });
    x = x.map((value, i) => value - rate * estimates[i]);
    all.push(x);
  }
  return all;
}

/**
 * Train the unit with the mean of an estimator, without noise. Returns x before the first step and after each one.
 * Training ends early if x is not finite.
 * @param {StochasticUnit} unit @param {Tree} estimator @param {Settings} settings
 */
export function descendByMean({ steps }, estimator, settings) {
  const computeMean = (/** @type {number} */ x) =>
    estimateMoments(estimator, x, settings, FEW_QUANTILES).mean[0];
  return walk(steps, toLogit(settings.p), settings.rate, computeMean);
}

/**
 * Train the unit with the exact gradient. Returns x before the first step and after each one.
 * @param {StochasticUnit} unit @param {Settings} settings
 */
export function descendByExact({ steps, exact }, settings) {
  return walk(steps, toLogit(settings.p), settings.rate, (x) => evaluateAt(exact, [x], settings)[0]);
}

/**
 * Return x before the first and after each step of gradient descent, which ends early if x is not finite.
 * @param {number} steps @param {number} from the initial x @param {number} rate @param {(x: number) => number} gradient
 */
function walk(steps, from, rate, gradient) {
  const all = [from];
  for (let step = 0; step < steps; step += 1) {
    const next = all[step] - rate * gradient(all[step]);
    if (!Number.isFinite(next)) break;
    all.push(next);
  }
  return all;
}

/** Count the runs that end above and below p = 1/2. @param {Float64Array} x the x of each run */
export const countEnds = (x) => ({
  above: x.filter((each) => each > 0).length,
  below: x.filter((each) => each < 0).length,
});

/**
 * Find the p at which training by the mean of an estimator can end. ``rests``: where the mean rises through 0;
 * ``ends``: 0 and 1, if they attract nearby p.
 * @param {Tree} estimator @param {Settings} settings @returns {{rests: number[], ends: number[]}}
 */
export function findEnds(estimator, settings) {
  const x = makeEvenPoints(-MAX_X, MAX_X, POINTS);
  const mean = x.map((at) => estimateMoments(estimator, at, settings, FEW_QUANTILES).mean[0]);
  const rests = [];
  for (let i = 0, previous = -1; i < POINTS; i += 1) {
    if (!(Math.abs(mean[i]) > ZERO)) continue;
    if (previous >= 0 && mean[previous] < 0 && mean[i] > 0) {
      const share = -mean[previous] / (mean[i] - mean[previous]);
      rests.push(sigmoid(x[previous] + share * (x[i] - x[previous])));
    }
    previous = i;
  }
  const ends = [...(mean[0] > ZERO ? [0] : []), ...(mean[POINTS - 1] < -ZERO ? [1] : [])];
  return { rests, ends };
}
