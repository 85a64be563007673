/**
 * Curves of stochastic ops and rules: means over the uniform random number u, standard deviations, and single samples.
 * @typedef {object} StochasticCurves additions to ``Curves`` for a stochastic op or rule
 * @property {number} quantiles number of values of u in each mean
 * @property {Record<string, import("./curves.js").Floats>} spread standard deviations by "forward" and rule key
 * @property {UnbiasedGradient|null} exact the unbiased gradient: g times the slope of the mean loss in x; null until
 *   Python has computed it
 * @property {Draws} draws single random samples, plotted as dots
 * @typedef {{x: import("./curves.js").Floats, marks: ArrayLike<number>, y: import("./curves.js").Floats, isPast?:
 *   boolean}} UnbiasedGradient its curve y over x; ``isPast``: whether it is that of the settings before the current
 *   drag
 * @typedef {object} Draws one random sample at each of a few evenly spaced x
 * @property {Float64Array} x @property {Float64Array} y
 * @property {Record<string, Float64Array>} gradients gradients by rule key
 * @typedef {object} Pair the formulas to evaluate for one rule of the op
 * @property {string} key the rule's key @property {Tree|null} gradient formula of the rule's gradient for x, or null
 * @property {Tree|null} part formula of one element's contribution to a parameter's gradient, or null
 * @property {Record<string, number>} parameters values of the op's, the rule's and the loss's parameters, by name
 */

import { resolveTree, drawUniforms } from "./draws.js";
import { evaluate, UNIFORM } from "./evaluation.js";
import { makeEvenPoints } from "./floats.js";
import { makeEvenQuantiles, computeMoments } from "./means.js";
import { getOwn } from "./records.js";

/** @import { Loss } from "./draws.js" */
/** @import { Op } from "./entry.js" */
/** @import { Tree } from "./evaluation.js" */
/** @import { Moments, Place } from "./means.js" */
/**
 * A function that returns where to evaluate formulas, for some x and parameter values.
 * @typedef {(x: Float64Array, parameters: Record<string, number>) => Place} PlaceAt
 */

const DOTS = 30; // number of random samples shown for each curve

/** The default loss f = y: the op's output itself. @type {Loss} */
export const OUTPUT = { key: "y", text: "y", tree: ["name", "y"], gradient: 1, parameters: [] };

/** Return the values of a loss's parameters, by name. @param {Loss} loss @param {Record<string, number>} settings */
export function getLossValues({ parameters }, settings) {
  return Object.fromEntries(
    parameters.map(({ name, default: defaultValue }) => [name, getOwn(settings, name) ?? defaultValue]),
  );
}

/**
 * A stochastic op, the loss of its output, the formulas of its rules, and the values of parameters.
 * @typedef {{op: Op, loss: Loss, pairs: Pair[], parameters: Record<string, number>}} StochasticSetup
 */
/**
 * A formula whose mean is to be computed, with the values of its parameters and the key of the result.
 * @typedef {{key: string, tree: Tree, parameters: Record<string, number>}} MeanRequest
 */

/**
 * Compute the mean curves and standard deviations of a stochastic op and its rules, and a few single samples.
 * @param {StochasticSetup} drawing
 * @param {{x: Float64Array, ends: [number, number], g: number, reference: Float64Array}} where ``ends``: ends of the
 *   range of x; ``reference``: the x over which mean(…) is computed
 * @param {number} quantiles number of random values averaged at each x
 */
export function computeMeanCurves(drawing, { x, ends, g, reference }, quantiles) {
  const { op, pairs, parameters } = drawing;
  /** @type {PlaceAt} */
  const place = (at, values) => {
    const all = { g, parameters: values };
    return { ...all, x: at, reference: { ...all, x: reference } };
  };
  const moments = computeGroupedMoments(
    [
      { key: "forward", tree: op.tree, parameters },
      ...listRequests(pairs, "gradient"),
      ...listRequests(pairs, "part"),
    ],
    drawing,
    (values) => place(x, values),
    quantiles,
  );
  const meansOf = (/** @type {"gradient"|"part"} */ of) =>
    Object.fromEntries(pairs.map(({ key }) => [key, moments.get(of + key)?.mean ?? null]));
  const spreads = pairs.flatMap(({ key }) => {
    const spread = moments.get(`gradient${key}`)?.spread;
    return spread ? [[key, spread]] : [];
  });
  const forward = /** @type {Moments} */ (moments.get("forward"));
  /** @type {StochasticCurves} */
  const stochastic = {
    quantiles,
    spread: { forward: forward.spread, ...Object.fromEntries(spreads) },
    exact: null,
    draws: sampleDraws(drawing, ends, place),
  };
  return { y: forward.mean, gradients: meansOf("gradient"), parts: meansOf("part"), drawn: stochastic };
}

/** @param {Pair[]} pairs @param {"gradient"|"part"} of @returns {MeanRequest[]} */
const listRequests = (pairs, of) =>
  pairs.flatMap(({ key, [of]: tree, parameters }) =>
    tree === null ? [] : [{ key: of + key, tree, parameters }],
  );

/**
 * Return means and standard deviations by key. Formulas without conflicting parameter values are evaluated together.
 * @param {MeanRequest[]} requests @param {StochasticSetup} drawing
 * @param {(parameters: Record<string, number>) => Place} placeWith @param {number} quantiles
 * @returns {Map<string, Moments>}
 */
function computeGroupedMoments(requests, { op, loss }, placeWith, quantiles) {
  /** @type {{parameters: Record<string, number>, some: MeanRequest[]}[]} */
  const groups = [];
  for (const request of requests) {
    const isCompatible = (/** @type {Record<string, number>} */ parameters) =>
      Object.entries(request.parameters).every(([name, value]) =>
        Object.is(getOwn(parameters, name) ?? value, value),
      );
    const group = groups.find(({ parameters }) => isCompatible(parameters));
    if (group) Object.assign(group.parameters, request.parameters);
    if (group) group.some.push(request);
    else groups.push({ parameters: { ...request.parameters }, some: [request] });
  }
  const pairs = groups.flatMap(({ parameters, some }) => {
    const trees = some.map(({ tree }) => resolveTree(tree, op, loss));
    const moments = computeMoments(trees, placeWith(parameters), makeEvenQuantiles(quantiles));
    return moments.map((each, i) => /** @type {const} */ ([some[i].key, each]));
  });
  return new Map(pairs);
}

/**
 * Draw one random sample of the op and of each rule at a few evenly spaced x, all with the same random numbers.
 * @param {StochasticSetup} drawing @param {[number, number]} ends @param {PlaceAt} place @returns {Draws}
 */
function sampleDraws({ op, loss, pairs, parameters }, [start, stop], place) {
  const x = makeEvenPoints(start, stop, DOTS);
  const draws = { [UNIFORM]: drawUniforms(DOTS) };
  const evaluateTree = (/** @type {Tree} */ tree, /** @type {Record<string, number>} */ values) =>
    evaluate(resolveTree(tree, op, loss), { ...place(x, values), draws });
  const gradients = pairs.flatMap(({ key, gradient, parameters: values }) =>
    gradient === null ? [] : [[key, evaluateTree(gradient, values)]],
  );
  return { x, y: evaluateTree(op.tree, parameters), gradients: Object.fromEntries(gradients) };
}
