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
import { expectationOf, slopesOf, withMiddles } from "./expectation.js";
import { evenPoints } from "./floats.js";
import { isSteady } from "./leaps.js";
import { held } from "./records.js";

/** @import { Loss } from "./draws.js" */
/** @import { Op } from "./entry.js" */
/** @import { Scope, Tree } from "./evaluation.js" */
/** @import { Expected, Pace } from "./expectation.js" */

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

/**
 * The means and spreads of an op and rules at given x.
 * @param {{op: Op, loss: Loss, pairs: Pair[], parameters: Record<string, number>}} drawing ``parameters`` those of op and loss
 * @param {{x: Float64Array, marks: Int8Array, ends: [number, number], g: number, kinks: number[], reference: Float64Array}} where
 *   ``ends`` of the range, ``reference``: the x of means
 * @param {Pace} pace
 * @returns {Drawn}
 */
export function drawnCurves({ op, loss, pairs, parameters }, { x, marks, ends, g, kinks, reference }, pace) {
  const place = (/** @type {Float64Array} */ at, /** @type {Record<string, number>} */ values) => {
    const all = { g, parameters: values };
    return { ...all, x: at, reference: { ...all, x: reference } };
  };
  /** @type {Drawn["reasons"]} */
  const reasons = {};
  /** @type {Drawn["spread"]} */
  const spread = {};
  /** @param {string} key @param {Expected} found */
  const noted = (key, { mean, spread: sd, reason }) => {
    if (reason) reasons[key] = reason;
    else if (sd) spread[key] = sd;
    return reason ? null : mean;
  };
  const meanOf = (/** @type {Tree} */ tree, /** @type {Record<string, number>} */ values) =>
    expectationOf(settledTree(tree, op, loss), place(x, values), pace);
  const y = noted("forward", meanOf(op.tree, parameters));
  const gradients = pairs.map(({ key, gradient, parameters: values }) => [
    key,
    gradient === null ? null : noted(key, meanOf(gradient, values)),
  ]);
  const parts = pairs.flatMap(({ key, part, parameters: values }) =>
    part === null ? [] : [[key, meanOf(part, values).mean]],
  );
  const lost = settledTree(LOST, op, loss);
  const lossAt = (/** @type {Float64Array} */ at) => expectationOf(lost, place(at, parameters), pace);
  const own = op.gradient !== null && isSteady(op.tree) ? meanOf(op.gradient, parameters) : null;
  const exact = own
    ? withMiddles(noted("exact", own) ?? own.mean, x, kinks)
    : slopesOf((at) => noted("exact", lossAt(at)) ?? at.fill(NaN), x, kinks, ends);
  delete spread.exact; // that of the loss is no curve
  return {
    ...{ pace, x, marks },
    y: y ?? new Float64Array(x.length).fill(NaN),
    gradients: Object.fromEntries(gradients),
    parts: Object.fromEntries(parts),
    spread,
    exact: reasons.exact ? null : exact,
    draws: singleDraws({ op, loss, pairs, parameters }, ends, place),
    reasons,
  };
}

/**
 * One draw of each at a few even x, by the same u.
 * @param {{op: Op, loss: Loss, pairs: Pair[], parameters: Record<string, number>}} drawing
 * @param {[number, number]} ends
 * @param {(x: Float64Array, parameters: Record<string, number>) => Scope} place
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
