/**
 * The area of a rule over all x, and its width at half its height, at g = 1; where it has none, the reason.
 *
 * The area is summed by three points of Gauss in cells between kinks, which are halved until both halves agree with
 * the whole. Cells grow by twos out to a thousand million.
 */

import { gradientOf } from "../formula/contribution.js";
import { pairKinks, scopeMaker, valuesOf } from "../formula/curves.js";
import { firstDrawn } from "../formula/draws.js";
import { evaluate, isReduction, operands } from "../formula/evaluation.js";
import { isLinear } from "./linearity.js";

/** @import { Op, Rule } from "../formula/entry.js" */
/** @import { Tree } from "../formula/evaluation.js" */
/** @typedef {(x: Float64Array) => Float64Array} Slope the gradient at g = 1 */
/** @typedef {{value: number, reason: string}} Sized NaN with a reason, or a number above 0 without one */
/** @typedef {"area"|"width"} Kind */
/** @typedef {Record<Kind, Sized> & {peak: number}} Sizes ``peak`` is the x at which a rule with a width is highest */

const NODES = [0.5 - Math.sqrt(0.15), 0.5, 0.5 + Math.sqrt(0.15)]; // Gauss and Legendre's three, of an interval
const WEIGHTS = [5 / 18, 8 / 18, 5 / 18];
const NEAR = 10; // where kinks are looked for
const OCTAVES = 30; // from 1 on
const ENDLESS = 1e-4; // of all that is nearer: with more in the last octave the sum goes on growing
const CLOSE = 1e-10; // of a sum: nobody sees more
const [DEEPEST, MOST_CELLS] = [48, 20000];
const SAME = 1e-9; // of a peak: less is rounding
const STEP = 1.02; // from one x to the next, by factors from the least on
const [LEAST, FARTHEST] = [1e-6, 1e6];
const FLAT = 1e-3; // of a width: a longer stretch at the peak is no peak
const NEAR_PEAK = 1e-6; // of a width: the peak is at that kink
const HALVINGS = 60;
const IN_Y = "is written in y, which does not widen with it";

const { abs, max, min } = Math;

/**
 * The sizes of a rule beside an op.
 * @param {Op} op
 * @param {Rule} rule
 * @param {Record<string, number>} settings
 * @returns {Sizes}
 */
export function sizesOf(op, rule, settings) {
  const tree = gradientOf(op, rule, "");
  const reason = unsized(op, rule, settings);
  if (reason || tree === null) return { area: without(reason), width: without(reason), peak: NaN };
  const range = { start: -NEAR, stop: NEAR, g: 1 };
  const parameters = valuesOf(op, rule, settings);
  const scopeAt = scopeMaker(op, parameters, range);
  const slope = (/** @type {Float64Array} */ x) => evaluate(tree, scopeAt(x));
  const kinks = pairKinks(op, rule, parameters, range) ?? [];
  const area = areaOf(slope, kinks);
  return rule.usesY ? { area, width: without(IN_Y), peak: NaN } : { area, ...widthOf(slope, kinks) };
}

/** Why a rule has no size of its own, "" where it may. @param {Op} op @param {Rule} rule @param {Record<string, number>} settings */
function unsized(op, rule, settings) {
  if (rule.tree === null) return "is torch's own gradient of the op";
  if (some(rule.tree, isLoss)) return "hangs on the loss";
  if (firstDrawn(rule.usesY ? [op, rule] : [rule])) return "is another one at each draw";
  if (some(rule.tree, isReduction)) return "hangs on all x at once";
  if (some(rule.tree, (node) => typeof node !== "number" && node[0] === "points")) return "is no formula";
  const linear = isLinear(op, rule, { start: -NEAR, stop: NEAR, g: 1, parameters: settings });
  return linear ? "" : "is not linear in g, so its size hangs on g";
}

/** Whether a node is a loss: at the output drawn, at the twin's or at another. @param {Tree} node */
function isLoss(node) {
  if (typeof node === "number") return false;
  return node[0] === "f" || (node[0] === "name" && (node[1] === "f()" || node[1] === "fa()"));
}

/** Whether a part of a tree is so. @param {Tree} tree @param {(node: Tree) => boolean} is @returns {boolean} */
function some(tree, is) {
  return is(tree) || operands(tree).some((part) => some(part, is));
}

/** @param {string} reason @returns {Sized} */
function without(reason) {
  return { value: NaN, reason };
}

/** @param {Slope} slope @param {number[]} kinks @returns {Sized} */
function areaOf(slope, kinks) {
  const powers = Array.from({ length: OCTAVES + 1 }, (_, power) => 2 ** power);
  const ends = [...powers.map((end) => -end).reverse(), 0, ...powers];
  const near = sizeBetween(slope, [-NEAR, NEAR]);
  const last = [-1, 1].map((way) => sizeBetween(slope, [way * powers[OCTAVES - 1], way * powers[OCTAVES]]));
  if (last[0] + last[1] > ENDLESS * near) return without("has no finite area");
  const cuts = [...new Set([...ends, ...kinks])].sort((one, other) => one - other);
  const cells = cuts.slice(1).map((end, i) => /** @type {[number, number]} */ ([cuts[i], end]));
  const area = abs(summed(slope, cells));
  if (!Number.isFinite(area)) return without("cannot be summed");
  return area > SAME * near
    ? { value: area, reason: "" }
    : without(near ? "has an area of 0" : "blocks everything");
}

/** About how much a rule weighs between two x, above and below 0 alike. @param {Slope} slope @param {[number, number]} ends */
function sizeBetween(slope, [start, stop]) {
  const x = Float64Array.from({ length: 997 }, (_, i) => start + ((i + 0.317) / 997) * (stop - start));
  const values = slope(x).map((value) => (Number.isFinite(value) ? abs(value) : 0));
  return (values.reduce((sum, value) => sum + value, 0) / x.length) * abs(stop - start);
}

/** The integral over cells; NaN where it does not settle. @param {Slope} slope @param {[number, number][]} cells */
function summed(slope, cells) {
  let [total, size] = [0, 0];
  const first = sums(slope, cells);
  let open = cells.map((cell, i) => ({ cell, sum: first[i] }));
  for (let depth = 0; open.length; depth += 1) {
    if (depth > DEEPEST || open.length > MOST_CELLS) return NaN;
    const halves = open.flatMap(({ cell: [low, high] }) => {
      const middle = (low + high) / 2;
      return /** @type {[number, number][]} */ ([
        [low, middle],
        [middle, high],
      ]);
    });
    const parts = sums(slope, halves);
    size = max(
      size,
      parts.reduce((sum, part) => sum + abs(part), abs(total)),
    );
    const next = /** @type {typeof open} */ ([]);
    open.forEach(({ sum }, i) => {
      const [left, right] = [parts[2 * i], parts[2 * i + 1]];
      if (abs(left + right - sum) <= CLOSE * size) total += left + right;
      else next.push({ cell: halves[2 * i], sum: left }, { cell: halves[2 * i + 1], sum: right });
    });
    open = next;
  }
  return total;
}

/** The sum over each cell by its nodes; far away what is not finite counts nothing. @param {Slope} slope @param {[number, number][]} cells */
function sums(slope, cells) {
  const x = Float64Array.from(
    cells.flatMap(([low, high]) => NODES.map((share) => low + share * (high - low))),
  );
  const values = slope(x);
  return cells.map(([low, high], i) => {
    const far = min(abs(low), abs(high)) >= NEAR;
    const heights = NODES.map((_, node) => values[NODES.length * i + node]).map((value) =>
      far && !Number.isFinite(value) ? 0 : value,
    );
    return heights.reduce((sum, height, node) => sum + WEIGHTS[node] * height, 0) * (high - low);
  });
}

/** @param {Slope} slope @param {number[]} kinks @returns {{width: Sized, peak: number}} */
function widthOf(slope, kinks) {
  const x = pointsFor(kinks);
  const values = slope(x);
  const known = values.map((value) => (Number.isFinite(value) ? abs(value) : 0));
  const top = known.reduce((best, value, i) => (value > known[best] ? i : best), 0);
  const height = known[top];
  const none = (/** @type {string} */ reason) => ({ width: without(reason), peak: NaN });
  if (height === 0) return none("blocks everything");
  const side = Math.sign(values[top]);
  const isOneLobe = known.every((value, i) => {
    const inner = i < top ? known[i + 1] : i > top ? known[i - 1] : value;
    return value <= inner + SAME * height && values[i] * side >= -SAME * height;
  });
  if (!isOneLobe) return none("has lobes");
  const half = (/** @type {number} */ at) => abs(slope(Float64Array.of(at))[0]) < height / 2;
  const ends = [-1, 1].map((way) => crossing(x, known, top, way, half));
  if (ends.some(Number.isNaN)) return none("never falls to half its height");
  const width = ends[1] - ends[0];
  const highest = [...x].filter((_, i) => known[i] >= height * (1 - SAME));
  const [first, last] = [highest[0], highest[highest.length - 1]];
  if (last - first > FLAT * width) return none("is flat on top: a mask has no peak");
  const about = highestBetween(slope, x[Math.max(top - 1, 0)], x[Math.min(top + 1, x.length - 1)]);
  const round = [0, ...kinks].find((each) => abs(each - about) <= NEAR_PEAK * width);
  return { width: { value: width, reason: "" }, peak: round ?? about };
}

/** The x between two others at which a rule with one peak is highest. @param {Slope} slope @param {number} low @param {number} high */
function highestBetween(slope, low, high) {
  let [left, right] = [low, high];
  for (let step = 0; step < HALVINGS; step += 1) {
    const third = (right - left) / 3;
    const [one, other] = slope(Float64Array.of(left + third, right - third)).map(abs);
    if (one < other) left += third;
    else right -= third;
  }
  return (left + right) / 2;
}

/** Points by factors around 0 and each kink, ascending, beside kinks and not at them. @param {number[]} kinks */
function pointsFor(kinks) {
  const count = Math.ceil(Math.log(FARTHEST / LEAST) / Math.log(STEP));
  const steps = Array.from({ length: count }, (_, i) => LEAST * STEP ** i);
  const even = Array.from({ length: 4001 }, (_, i) => -NEAR + (i * 2 * NEAR) / 4000);
  const centres = [0, ...kinks];
  const beside = centres.flatMap((centre) => [centre - SAME, centre + SAME]);
  const around = [0, ...(kinks.length > 20 ? [] : kinks)].flatMap((centre) =>
    steps.flatMap((step) => [centre - step, centre + step]),
  );
  const distinct = new Set([...even, ...beside, ...around]);
  for (const centre of kinks) distinct.delete(centre);
  return Float64Array.from(distinct).sort();
}

/**
 * The x on one side of the top from where on a rule is below half its height; NaN where it never is.
 * @param {Float64Array} x
 * @param {Float64Array} known
 * @param {number} top
 * @param {number} way
 * @param {(at: number) => boolean} half whether it is below
 */
function crossing(x, known, top, way, half) {
  let index = top;
  while (index >= 0 && index < x.length && known[index] >= known[top] / 2) index += way;
  if (index < 0 || index >= x.length) return NaN;
  let [inside, outside] = [x[index - way], x[index]];
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (inside + outside) / 2;
    if (half(middle)) outside = middle;
    else inside = middle;
  }
  return inside;
}
