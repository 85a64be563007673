/**
 * A random unit, 1 with probability p = sigmoid(x), whose x descends by an estimated gradient. Without a page.
 *
 * See Walker in explorer/lessons/pictures.py.
 * @typedef {object} Walker
 * @property {Tree} op
 * @property {Tree} loss
 * @property {Tree} slope
 * @property {Tree} mean_loss
 * @property {Tree} exact
 * @property {Record<string, Tree>} estimators
 * @property {Control} start
 * @property {Control} rate
 * @property {Control[]} parameters
 * @property {number} steps
 * @property {number} runs
 * @property {number} seed
 * @property {number} drawn
 *
 * @typedef {{name: string, default: number, low: number, high: number, meaning: string}} Control
 * @typedef {{p: number, rate: number, parameters: Record<string, number>}} Settings
 * @typedef {{mean: number, sd: number, exact: number}} Measured
 */

import { resolveTree, drawUniforms } from "../../formula/draws.js";
import { evaluate, getOperands, UNIFORM } from "../../formula/evaluation.js";
import { makeEvenPoints } from "../../formula/floats.js";
import { FUNCTIONS } from "../../formula/functions.js";
import { computeMoments, makeQuantiles } from "../../formula/means.js";

/** @import { Tree } from "../../formula/evaluation.js" */

const MAX_X = 6; // of the x at which means are computed: p from 0.0025 to 0.9975
const POINTS = 121;
const [FEW_QUANTILES, MANY_QUANTILES] = [101, 2001]; // quantiles of u on each side of p and 1 − p, where an estimator may jump
const ZERO = 1e-9; // a gradient below this is 0 up to rounding

/** Return the probability for x. @param {number} x */
export const sigmoid = (x) => FUNCTIONS.sigmoid(x);
/** Return the x for a probability. @param {number} p */
export const toLogit = (p) => Math.log(p / (1 - p));

/** Return each estimator as a tree in x and u() alone. @param {Walker} walker @returns {Record<string, Tree>} */
export function resolveEstimators({ op, loss, slope, estimators }) {
  const unit = /** @type {import("../../formula/entry.js").Op} */ ({ tree: op });
  const lossEntry = { key: "", text: "", tree: loss, gradient: slope, parameters: [] };
  return Object.fromEntries(
    Object.entries(estimators).map(([name, tree]) => [name, resolveTree(tree, unit, lossEntry)]),
  );
}

/** Return whether a tree contains a parameter. @param {Tree} tree @param {string} name @returns {boolean} */
export function hasName(tree, name) {
  if (typeof tree === "number") return false;
  return tree[0] === "name" ? tree[1] === name : getOperands(tree).some((part) => hasName(part, name));
}

/** Return the values of a tree at each x. @param {Tree} tree @param {number[]} x @param {Settings} settings */
const evaluateAt = (tree, x, { parameters }) => evaluate(tree, { x: Float64Array.from(x), g: 1, parameters });

/** Return the loss of each output. @param {Walker} walker @param {number[]} y @param {Settings} settings */
export function evaluateLoss({ loss }, y, { parameters }) {
  const output = Float64Array.from(y);
  return evaluate(loss, { x: output, y: output, parameters });
}

/** Return the mean loss at a probability. @param {Walker} walker @param {number} p @param {Settings} settings */
export const evaluateMeanLoss = (walker, p, settings) =>
  evaluateAt(walker.mean_loss, [toLogit(p)], settings)[0];

/**
 * Return mean and standard deviation of an estimator at a probability, and the exact gradient.
 * @param {Walker} walker
 * @param {Tree} estimator from ``resolveEstimators``
 * @param {Settings} settings
 * @returns {Measured}
 */
export function measureEstimator(walker, estimator, settings) {
  const x = toLogit(settings.p);
  const { mean, spread } = estimateMoments(estimator, x, settings, MANY_QUANTILES);
  const [exact] = evaluateAt(walker.exact, [x], settings);
  return { mean: mean[0], sd: spread[0], exact };
}

/**
 * Return mean and standard deviation of an estimator at an x.
 * @param {Tree} estimator
 * @param {number} x
 * @param {Pick<Settings, "parameters">} settings
 * @param {number} count
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
 * Simulate runs from a probability, each with independent draws; return x before the first and after each step.
 * @param {Walker} walker
 * @param {Tree} estimator
 * @param {Settings} settings
 * @param {number} runs their number; they are the first of ``walker.runs``
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
 * Return x after each step of the deterministic walk by an estimator's mean; it ends if the mean is not finite.
 * @param {Walker} walker
 * @param {Tree} estimator
 * @param {Settings} settings
 */
export function walkByMean({ steps }, estimator, settings) {
  const computeMean = (/** @type {number} */ x) =>
    estimateMoments(estimator, x, settings, FEW_QUANTILES).mean[0];
  return walk(steps, toLogit(settings.p), settings.rate, computeMean);
}

/** Return x after each step of the walk by the exact gradient. @param {Walker} walker @param {Settings} settings */
export function walkByExact({ steps, exact }, settings) {
  return walk(steps, toLogit(settings.p), settings.rate, (x) => evaluateAt(exact, [x], settings)[0]);
}

/**
 * Return x after each step of gradient descent; it ends if x is not finite.
 * @param {number} steps
 * @param {number} from
 * @param {number} rate
 * @param {(x: number) => number} gradient
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

/** Return the number of runs above p = 1/2, and below it. @param {Float64Array} x of all runs */
export const countEnds = (x) => ({
  above: x.filter((each) => each > 0).length,
  below: x.filter((each) => each < 0).length,
});

/**
 * Find the ends of walks by an estimator's mean: ``rests``, the probabilities at which it rises through 0, and
 * ``ends``, those of 0 and 1 that attract walks nearby.
 * @param {Tree} estimator
 * @param {Settings} settings
 * @returns {{rests: number[], ends: number[]}}
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
