/**
 * A unit that draws 0 or 1 by a chance p = sigmoid(x), and whose x walks downhill by the estimate of a gradient. No page.
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

const REACH = 6; // of the x at which a mean is looked at: p from 0.0025 to 0.9975
const POINTS = 121;
const [FEW, MANY] = [101, 2001]; // quantiles of u on each side of p and 1 − p, where an estimator may leap
const NOTHING = 1e-9; // a gradient that is 0 but for rounding

/** @param {number} x */
export const sigmoid = (x) => FUNCTIONS.sigmoid(x);
/** @param {number} p */
export const logit = (p) => Math.log(p / (1 - p));

/** A walker with each estimator in x and u() alone. @param {Walker} walker @returns {Record<string, Tree>} */
export function settledEstimators({ op, loss, slope, estimators }) {
  const unit = /** @type {import("../../formula/entry.js").Op} */ ({ tree: op });
  const lost = { key: "", text: "", tree: loss, gradient: slope, parameters: [] };
  return Object.fromEntries(
    Object.entries(estimators).map(([name, tree]) => [name, resolveTree(tree, unit, lost)]),
  );
}

/** Whether a tree has a parameter in it. @param {Tree} tree @param {string} name @returns {boolean} */
export function names(tree, name) {
  if (typeof tree === "number") return false;
  return tree[0] === "name" ? tree[1] === name : getOperands(tree).some((part) => names(part, name));
}

/** The value of a tree in x at each x. @param {Tree} tree @param {number[]} x @param {Settings} settings */
const valuesAt = (tree, x, { parameters }) => evaluate(tree, { x: Float64Array.from(x), g: 1, parameters });

/** The loss of each output. @param {Walker} walker @param {number[]} y @param {Settings} settings */
export function losses({ loss }, y, { parameters }) {
  const output = Float64Array.from(y);
  return evaluate(loss, { x: output, y: output, parameters });
}

/** The mean loss at a chance. @param {Walker} walker @param {number} p @param {Settings} settings */
export const meanLoss = (walker, p, settings) => valuesAt(walker.mean_loss, [logit(p)], settings)[0];

/**
 * Mean and standard deviation of an estimator at a chance, and the exact gradient there.
 * @param {Walker} walker
 * @param {Tree} estimator as of settledEstimators
 * @param {Settings} settings
 * @returns {Measured}
 */
export function measured(walker, estimator, settings) {
  const x = logit(settings.p);
  const { mean, spread } = momentsAt(estimator, x, settings, MANY);
  const [exact] = valuesAt(walker.exact, [x], settings);
  return { mean: mean[0], sd: spread[0], exact };
}

/** Mean and spread of an estimator at an x. @param {Tree} estimator @param {number} x @param {Pick<Settings, "parameters">} settings @param {number} count */
function momentsAt(estimator, x, { parameters }, count) {
  const p = sigmoid(x);
  const ends = [0, Math.min(p, 1 - p), Math.max(p, 1 - p), 1];
  return computeMoments(
    [estimator],
    { x: Float64Array.of(x), g: 1, parameters },
    makeQuantiles(ends, count),
  )[0];
}

/**
 * Runs from a chance, each by draws of its own: x after each step, from before the first one.
 * @param {Walker} walker
 * @param {Tree} estimator
 * @param {Settings} settings
 * @param {number} runs the first of those that are counted
 */
export function runsOf({ steps, seed }, estimator, { p, rate, parameters }, runs) {
  let x = new Float64Array(runs).fill(logit(p));
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
 * The walk by the mean of an estimator, which draws nothing: x after each step. It ends where there is no mean.
 * @param {Walker} walker
 * @param {Tree} estimator
 * @param {Settings} settings
 */
export function meanWalk({ steps }, estimator, settings) {
  const mean = (/** @type {number} */ x) => momentsAt(estimator, x, settings, FEW).mean[0];
  return walked(steps, logit(settings.p), settings.rate, mean);
}

/** The walk by the exact gradient. @param {Walker} walker @param {Settings} settings */
export function exactWalk({ steps, exact }, settings) {
  return walked(steps, logit(settings.p), settings.rate, (x) => valuesAt(exact, [x], settings)[0]);
}

/** @param {number} steps @param {number} from @param {number} rate @param {(x: number) => number} gradient */
function walked(steps, from, rate, gradient) {
  const all = [from];
  for (let step = 0; step < steps; step += 1) {
    const next = all[step] - rate * gradient(all[step]);
    if (!Number.isFinite(next)) break;
    all.push(next);
  }
  return all;
}

/** How many runs are above p = 1/2, and how many below. @param {Float64Array} x of all runs */
export const countsOf = (x) => ({
  above: x.filter((each) => each > 0).length,
  below: x.filter((each) => each < 0).length,
});

/**
 * Where walks by the mean of an estimator end: the chances at which it rises through 0; ``ends`` are those of the two
 * ends, 0 and 1, that it leads to from next to them.
 * @param {Tree} estimator
 * @param {Settings} settings
 * @returns {{rests: number[], ends: number[]}}
 */
export function endsOf(estimator, settings) {
  const x = makeEvenPoints(-REACH, REACH, POINTS);
  const mean = x.map((at) => momentsAt(estimator, at, settings, FEW).mean[0]);
  const rests = [];
  for (let i = 0, before = -1; i < POINTS; i += 1) {
    if (!(Math.abs(mean[i]) > NOTHING)) continue;
    if (before >= 0 && mean[before] < 0 && mean[i] > 0) {
      const share = -mean[before] / (mean[i] - mean[before]);
      rests.push(sigmoid(x[before] + share * (x[i] - x[before])));
    }
    before = i;
  }
  const ends = [...(mean[0] > NOTHING ? [0] : []), ...(mean[POINTS - 1] < -NOTHING ? [1] : [])];
  return { rests, ends };
}
