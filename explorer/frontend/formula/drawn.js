/**
 * Curves of what draws: means over u, their standard deviations, the exact slope of the mean loss, and single draws.
 *
 * @typedef {object} Drawn
 * @property {Pace} pace
 * @property {Float64Array} x
 * @property {Int8Array} marks of x, as of curves
 * @property {Float64Array} y
 * @property {Record<string, Float64Array|null>} gradients by rule key; null where there is no mean
 * @property {Record<string, Float64Array|null>} parts
 * @property {Record<string, Float64Array>} spread by "forward" and rule key, where one exists
 * @property {Float64Array|null} exact g times the slope of the mean loss in x
 * @property {Draws} draws
 * @property {Record<string, import("./expectation.js").Reason>} reasons by "forward", "exact" and rule key, why there
 *   is no mean
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
import { expectationsOf, slopesOf, withMiddles } from "./expectation.js";
import { evenPoints } from "./floats.js";
import { isSteady } from "./leaps.js";
import { held } from "./records.js";

/** @import { Loss } from "./draws.js" */
/** @import { Op } from "./entry.js" */
/** @import { Tree } from "./evaluation.js" */
/** @import { Expected, Pace } from "./expectation.js" */
/** @import { Place } from "./leaps.js" */
/** @typedef {(x: Float64Array, parameters: Record<string, number>) => Place} PlaceAt */

const DOTS = 30; // single draws on a chart
const LOST = /** @type {Tree} */ (["name", "f()"]);

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
 * @param {{x: Float64Array, marks: Int8Array, ends: [number, number], g: number, kinks: number[], reference: Float64Array}} where
 *   ``ends`` of the range, ``reference``: the x of means
 * @param {Pace} pace
 * @returns {Drawn}
 */
export function drawnCurves(drawing, { x, marks, ends, g, kinks, reference }, pace) {
  const { op, loss, pairs, parameters } = drawing;
  /** @type {PlaceAt} */
  const place = (at, values) => {
    const all = { g, parameters: values };
    return { ...all, x: at, reference: { ...all, x: reference } };
  };
  const expected = (/** @type {Asked[]} */ asked, at = x) => {
    const settled = asked.map((one) => ({ ...one, tree: settledTree(one.tree, op, loss) }));
    return expectedTogether(settled, (values) => place(at, values), pace);
  };
  const steady = isSteady(op.tree) ? op.gradient : null;
  const found = expected([
    { key: "forward", tree: op.tree, parameters },
    ...askedOf(pairs, "gradient"),
    ...(steady === null ? [] : [{ key: "exact", tree: steady, parameters }]),
  ]);
  const lossAt = (/** @type {Float64Array} */ at) => {
    found.exact = expected([{ key: "exact", tree: LOST, parameters }], at).exact;
    return found.exact.mean;
  };
  const exact = found.exact
    ? withMiddles(found.exact.mean, x, kinks)
    : slopesOf(lossAt, x, kinks, ends, pace);
  const meanOf = (/** @type {string} */ key) => (found[key]?.reason === "" ? found[key].mean : null);
  const parts = expected(askedOf(pairs, "part"));
  return {
    ...{ pace, x, marks },
    y: found.forward.mean,
    gradients: Object.fromEntries(pairs.map(({ key }) => [key, meanOf(key)])),
    parts: Object.fromEntries(Object.entries(parts).map(([key, { mean }]) => [key, mean])),
    spread: spreadsOf(found),
    exact: meanOf("exact") && exact,
    draws: singleDraws(drawing, ends, place),
    reasons: reasonsOf(found),
  };
}

/** @param {Pair[]} pairs @param {"gradient"|"part"} of @returns {Asked[]} */
const askedOf = (pairs, of) =>
  pairs.flatMap(({ key, [of]: tree, parameters }) => (tree === null ? [] : [{ key, tree, parameters }]));

/** Those of curves; that of the loss is none. @param {Record<string, Expected>} found @returns {Drawn["spread"]} */
function spreadsOf({ exact: _, ...curves }) {
  const there = Object.entries(curves).filter(([, { spread, reason }]) => spread && !reason);
  return Object.fromEntries(there.map(([key, { spread }]) => [key, /** @type {Float64Array} */ (spread)]));
}

/** @param {Record<string, Expected>} found @returns {Drawn["reasons"]} */
const reasonsOf = (found) =>
  Object.fromEntries(Object.entries(found).flatMap(([key, { reason }]) => (reason ? [[key, reason]] : [])));

/**
 * Means by key. Trees whose parameters have the same values are integrated together.
 * @param {Asked[]} asked
 * @param {(parameters: Record<string, number>) => Place} placeWith
 * @param {Pace} pace
 * @returns {Record<string, Expected>}
 */
function expectedTogether(asked, placeWith, pace) {
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
    const trees = some.map(({ tree }) => tree);
    return expectationsOf(trees, placeWith(parameters), pace).map((expected, i) => [some[i].key, expected]);
  });
  return Object.fromEntries(pairs);
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
