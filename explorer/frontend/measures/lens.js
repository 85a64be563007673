/**
 * The noise lens: the slope of E op(x + noise), as explorer/lens computes it.
 *
 * @typedef {object} Noise as explorer/catalogue/noises.py declares it
 * @property {string} key
 * @property {string} label
 * @property {import("../formula/evaluation.js").Tree} density
 * @property {import("../formula/evaluation.js").Tree} distribution
 * @property {string} width the meaning of its width
 * @property {number} reach
 * @property {number[]} kinks of the density, ascending
 * @property {number|null} smooth a stretch over which the density is smooth; null for one of any length
 * @property {string} tail "none", "normal", "exponential" or "power"
 * @property {number} mostRate
 *
 * @typedef {{x: Float64Array, gradient: Float64Array, reason: string}} Seen the slope of the mean, and why
 *   there is none anywhere: a key of the words, or ""
 */

import { gradientOf } from "../formula/contribution.js";
import { scopeMaker, valuesOf } from "../formula/curves.js";
import { evaluate, operands } from "../formula/evaluation.js";
import { evenPoints } from "../formula/floats.js";
import { growthOf } from "./growth.js";
import { curvesOf, partsOf } from "./parts.js";
import { smoothed } from "./smoothing.js";

/** @import { Op } from "../formula/entry.js" */
/** @import { Parts } from "./parts.js" */

export const [SAME, NEARLY] = [1e-12, 1e-6];
const NOTHING = 1e-12;
const NO_CELL = 1e-3;
const BESIDE = 1e-6;
const [FINE, MIDDLE, COARSE] = [601, 241, 61]; // even x, as many as the time of a frame allows
const [TERMS, CELLS] = [60_000, 16_000]; // jumps and ends of pieces for all x, and cells
const AHEAD = 1.5; // times the reach
const CUT = 3; // times as long takes a cell with nodes of its own for each x
const MOST_BENDS = 64; // more are not told apart in a picture

/**
 * @param {Op} op
 * @param {Record<string, number>} parameters all of the op's
 * @param {Noise} noise
 * @param {number} width
 * @param {[number, number]} span
 * @returns {Seen}
 */
export function seenThrough(op, parameters, noise, width, span) {
  const nothing = (/** @type {string} */ reason) => ({
    x: evenPoints(...span, 2),
    gradient: NOWHERE,
    reason,
  });
  if (hasPoints(op.tree)) return nothing("points");
  const curves = curvesOf(op, parameters, span);
  if (!curves) return nothing("many");
  const { reason, reach } = growthOf(curves.y, noise, width);
  if (reason) return nothing(reason);
  const parts = knownParts(op, parameters, span, reach);
  if (!parts) return nothing("many");
  if (noise.tail !== "none" && parts.holes.length) return nothing("undefined");
  const even = evenPoints(...span, pointsFor(parts, noise, width, reach));
  const x = gridOf(even, parts, noise, width);
  return { x, gradient: smoothed(parts, noise, width, reach, x), reason: "" };
}

const NOWHERE = Float64Array.of(NaN, NaN);

/** Whether a tree has a function that is no formula. @param {import("../formula/evaluation.js").Tree} tree @returns {boolean} */
function hasPoints(tree) {
  return typeof tree !== "number" && (tree[0] === "points" || operands(tree).some(hasPoints));
}

let known = { key: "", reach: 0, parts: /** @type {Parts|null} */ (null) };

/** Whether nothing but jumps and straight pieces is there, which are the same however far one looks. @param {Parts|null} parts */
const isJumping = (parts) => parts !== null && !parts.curved.length && !parts.holes.length;

/**
 * The parts of an op, kept while only the noise changes, and as far as it has reached; of what only jumps, a little
 * farther than a hand has widened it.
 * @param {Op} op
 * @param {Record<string, number>} parameters
 * @param {[number, number]} span
 * @param {number} reach
 */
function knownParts(op, parameters, span, reach) {
  const key = JSON.stringify([op.key, parameters, span]);
  const isFit = known.reach === reach || (known.parts && known.reach > reach && known.reach < 4 * reach);
  if (key === known.key && isFit) return known.parts;
  const ahead = key === known.key && isJumping(known.parts) ? AHEAD * reach : reach;
  known = { key, reach: ahead, parts: partsOf(op, parameters, span, ahead) };
  if (ahead > reach && !isJumping(known.parts))
    known = { key, reach, parts: partsOf(op, parameters, span, reach) };
  return known.parts;
}

/**
 * The number of even x.
 * @param {Parts} parts
 * @param {Noise} noise
 * @param {number} width
 * @param {number} reach
 */
function pointsFor({ at, straight, curved }, { smooth }, width, reach) {
  const terms = TERMS / (at.length + 2 * straight.length);
  const near = curved.filter(([low, high]) => low < reach && high > -reach).length; // around x = 0
  const cells = smooth === null ? CUT * near : near + (2 * reach) / (smooth * width);
  const most = near ? Math.min(terms, MIDDLE, CELLS / cells) : terms;
  return Math.round(Math.max(COARSE, Math.min(FINE, most)));
}

/**
 * Even x, with those at which the lens may jump or bend and their sides.
 * @param {Float64Array} even
 * @param {Parts} parts
 * @param {Noise} noise
 * @param {number} width
 */
function gridOf(even, { at, straight }, { tail, reach }, width) {
  if (tail !== "none" || at.length + straight.length > MOST_BENDS) return even;
  const bends = [...at, ...straight.flatMap(([low, high]) => [low, high])].flatMap((bend) =>
    [-reach, 0, reach].map((cut) => bend + cut * width),
  );
  const near = bends.flatMap((bend) => [-1, 0, 1].map((way) => bend + way * BESIDE * width));
  const inside = near.filter((x) => x > even[0] && x < even[even.length - 1]);
  return Float64Array.from([...even, ...inside]).sort();
}

/**
 * The distance of a rule from the lens, for one upstream gradient; null where only torch knows the rule.
 * @param {Op} op
 * @param {import("../formula/entry.js").Rule} rule as it stands beside the op
 * @param {{start: number, stop: number, g: number, parameters: Record<string, number>}} choice
 * @param {Seen} seen
 */
export function distanceFrom(op, rule, { start, stop, g, parameters }, { x, gradient }) {
  const tree = gradientOf(op, rule, "");
  if (tree === null) return null;
  const scope = scopeMaker(op, valuesOf(op, rule, parameters), { start, stop, g })(x);
  return distanceOf(
    x,
    gradient.map((value) => g * value),
    evaluate(tree, scope),
  );
}

/**
 * The root mean square of rule − lens over x as a share of the lens's, where both are finite; values right at a
 * jump do not count. NaN where they are nowhere; infinite beside a lens that is 0 but for rounding.
 * @param {Float64Array} x
 * @param {Float64Array} lens
 * @param {Float64Array} rule
 */
export function distanceOf(x, lens, rule) {
  const least = (NO_CELL * (x[x.length - 1] - x[0])) / (x.length - 1);
  const cell = (/** @type {number} */ i) => (x[i + 1] - x[i] >= least ? x[i + 1] - x[i] : 0);
  let [size, rest, any] = [0, 0, false];
  for (let i = 0; i < x.length; i += 1) {
    if (!Number.isFinite(lens[i]) || !Number.isFinite(rule[i])) continue;
    any = true;
    const weight = (cell(i - 1) + cell(i)) / (2 * (x[x.length - 1] - x[0]));
    size += weight * lens[i] ** 2;
    rest += weight * (rule[i] - lens[i]) ** 2;
  }
  if (!any) return NaN;
  [size, rest] = [Math.sqrt(size), Math.sqrt(rest)];
  if (size <= NOTHING) return rest > NOTHING ? Infinity : 0;
  return rest / size;
}
