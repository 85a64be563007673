/**
 * The kinks of an op while its parameter is dragged. One that knows x only as x / s, as a format does, has the kinks of
 * another s, stretched: no search.
 */

import { opKinks } from "../formula/curves.js";
import { isReduction, operands } from "../formula/evaluation.js";

/** @import { Op } from "../formula/entry.js" */
/** @import { Tree } from "../formula/evaluation.js" */

const AHEAD = 2; // so much wider is searched where a hand moves

let known = { key: "", scale: 1, low: 0, high: 0, kinks: /** @type {number[]} */ ([]) };

/**
 * The kinks of an op between two ends, ascending; null where they are too many.
 * @param {Op} op
 * @param {Record<string, number>} parameters
 * @param {[number, number]} span that a mean is over
 * @param {[number, number]} ends around 0
 */
export function kinksWithin(op, parameters, span, [low, high]) {
  const name = op.kinks ? null : scaleOf(op.tree);
  const scale = name ? parameters[name] : NaN;
  if (!name || !(scale > 0)) return opKinks(op, parameters, span, [low, high]);
  const key = JSON.stringify([op.key, { ...parameters, [name]: 1 }]);
  const by = scale / known.scale;
  if (key !== known.key || !(known.low * by <= low && high <= known.high * by)) {
    const ahead = key === known.key ? AHEAD : 1;
    const [from, to] = [low - (ahead - 1) * Math.abs(low), high + (ahead - 1) * Math.abs(high)];
    const found = opKinks(op, parameters, span, [from, to]);
    if (!found) return opKinks(op, parameters, span, [low, high]);
    known = { key, scale, low: from, high: to, kinks: found };
  }
  const stretch = scale / known.scale;
  return known.kinks.map((x) => x * stretch).filter((x) => low <= x && x <= high);
}

/** The parameter s of a tree in which each x stands in x / s alone, of one s; null for any other. @param {Tree} tree */
function scaleOf(tree) {
  const scales = new Set(scalesIn(tree));
  const [one] = scales;
  return scales.size === 1 ? one : null;
}

/** What each x of a tree is divided by: a parameter, or null. @param {Tree} tree @returns {(string|null)[]} */
function scalesIn(tree) {
  if (typeof tree === "number") return [];
  if (tree[0] === "name") return tree[1] === "x" ? [null] : [];
  if (tree[0] === "points" || isReduction(tree)) return [null]; // a mean is over x that do not stretch
  const [above, below] = tree[0] === "/" ? operands(tree) : [];
  if (isName(above) && above[1] === "x" && isName(below)) return [below[1]];
  return operands(tree).flatMap(scalesIn);
}

/** @param {Tree} [tree] @returns {tree is ["name", string]} */
const isName = (tree) => typeof tree === "object" && tree[0] === "name";
