/**
 * Curves of what draws: means over u, their standard deviations, and single draws.
 *
 * @typedef {object} Drawn
 * @property {number} quantiles that means are over
 * @property {Record<string, import("./curves.js").Floats>} spread by "forward" and rule key
 * @property {Exact|null} exact g times the slope of the mean loss in x, which Python alone has
 * @property {Draws} draws
 *
 * @typedef {{x: import("./curves.js").Floats, marks: ArrayLike<number>, y: import("./curves.js").Floats, isPast?: boolean}}
 *   Exact ``isPast``: of another choice, while a hand moves
 *
 * @typedef {object} Draws one at each of a few even x
 * @property {Float64Array} x
 * @property {Float64Array} y
 * @property {Record<string, Float64Array>} gradients
 *
 * @typedef {object} Pair a rule beside an op
 * @property {string} key
 * @property {Tree|null} gradient as of gradientOf
 * @property {Tree|null} part what an element contributes to a parameter that learns
 * @property {Record<string, number>} parameters as of valuesOf, with those of the loss
 */

import { settledTree, uniforms } from "./draws.js";
import { evaluate, UNIFORM } from "./evaluation.js";
import { evenPoints } from "./floats.js";
import { evenQuantiles, momentsOf } from "./means.js";
import { held } from "./records.js";

/** @import { Loss } from "./draws.js" */
/** @import { Op } from "./entry.js" */
/** @import { Tree } from "./evaluation.js" */
/** @import { Moments, Place } from "./means.js" */
/** @typedef {(x: Float64Array, parameters: Record<string, number>) => Place} PlaceAt */

const DOTS = 30; // single draws on a chart

/** The loss that is the output itself. @type {Loss} */
export const OUTPUT = { key: "y", text: "y", tree: ["name", "y"], gradient: 1, parameters: [] };

/**
 * The values of a loss's parameters beside those of an op and a rule.
 * @param {Loss} loss
 * @param {Record<string, number>} settings
 */
export function valuesOfLoss({ parameters }, settings) {
  return Object.fromEntries(
    parameters.map(({ name, default: usual }) => [name, held(settings, name) ?? usual]),
  );
}

/** @typedef {{op: Op, loss: Loss, pairs: Pair[], parameters: Record<string, number>}} Drawing ``parameters`` those of op and loss */
/** A tree whose mean is asked for. @typedef {{key: string, tree: Tree, parameters: Record<string, number>}} Asked */

/**
 * The means and spreads of an op and rules at given x.
 * @param {Drawing} drawing
 * @param {{x: Float64Array, ends: [number, number], g: number, reference: Float64Array}} where ``ends`` of the range,
 *   ``reference``: the x of means
 * @param {number} quantiles
 */
export function drawnCurves(drawing, { x, ends, g, reference }, quantiles) {
  const { op, pairs, parameters } = drawing;
  /** @type {PlaceAt} */
  const place = (at, values) => {
    const all = { g, parameters: values };
    return { ...all, x: at, reference: { ...all, x: reference } };
  };
  const found = momentsTogether(
    [{ key: "forward", tree: op.tree, parameters }, ...askedOf(pairs, "gradient"), ...askedOf(pairs, "part")],
    drawing,
    (values) => place(x, values),
    quantiles,
  );
  const meansOf = (/** @type {"gradient"|"part"} */ of) =>
    Object.fromEntries(pairs.map(({ key }) => [key, found.get(of + key)?.mean ?? null]));
  const spreads = pairs.flatMap(({ key }) => {
    const spread = found.get(`gradient${key}`)?.spread;
    return spread ? [[key, spread]] : [];
  });
  const forward = /** @type {Moments} */ (found.get("forward"));
  /** @type {Drawn} */
  const drawn = {
    quantiles,
    spread: { forward: forward.spread, ...Object.fromEntries(spreads) },
    exact: null,
    draws: singleDraws(drawing, ends, place),
  };
  return { y: forward.mean, gradients: meansOf("gradient"), parts: meansOf("part"), drawn };
}

/** @param {Pair[]} pairs @param {"gradient"|"part"} of @returns {Asked[]} */
const askedOf = (pairs, of) =>
  pairs.flatMap(({ key, [of]: tree, parameters }) =>
    tree === null ? [] : [{ key: of + key, tree, parameters }],
  );

/**
 * Moments by key. Trees whose parameters have the same values are evaluated together.
 * @param {Asked[]} asked
 * @param {Drawing} drawing
 * @param {(parameters: Record<string, number>) => Place} placeWith
 * @param {number} quantiles
 * @returns {Map<string, Moments>}
 */
function momentsTogether(asked, { op, loss }, placeWith, quantiles) {
  /** @type {{parameters: Record<string, number>, some: Asked[]}[]} */
  const groups = [];
  for (const one of asked) {
    const isOf = (/** @type {Record<string, number>} */ parameters) =>
      Object.entries(one.parameters).every(([name, value]) =>
        Object.is(held(parameters, name) ?? value, value),
      );
    const group = groups.find(({ parameters }) => isOf(parameters));
    if (group) Object.assign(group.parameters, one.parameters);
    if (group) group.some.push(one);
    else groups.push({ parameters: { ...one.parameters }, some: [one] });
  }
  const pairs = groups.flatMap(({ parameters, some }) => {
    const trees = some.map(({ tree }) => settledTree(tree, op, loss));
    const moments = momentsOf(trees, placeWith(parameters), evenQuantiles(quantiles));
    return moments.map((each, i) => /** @type {const} */ ([some[i].key, each]));
  });
  return new Map(pairs);
}

/**
 * One draw of each at a few even x, by the same u.
 * @param {Drawing} drawing
 * @param {[number, number]} ends
 * @param {PlaceAt} place
 * @returns {Draws}
 */
function singleDraws({ op, loss, pairs, parameters }, [start, stop], place) {
  const x = evenPoints(start, stop, DOTS);
  const draws = { [UNIFORM]: uniforms(DOTS) };
  const at = (/** @type {Tree} */ tree, /** @type {Record<string, number>} */ values) =>
    evaluate(settledTree(tree, op, loss), { ...place(x, values), draws });
  const gradients = pairs.flatMap(({ key, gradient, parameters: values }) =>
    gradient === null ? [] : [[key, at(gradient, values)]],
  );
  return { x, y: at(op.tree, parameters), gradients: Object.fromEntries(gradients) };
}
