/**
 * Means and standard deviations over u of what a formula draws, at each x: by quadrature between the leaps over u. As
 * in explorer/expectation.
 *
 * @typedef {{mean: Float64Array, spread: Float64Array|null, reason: Reason}} Expected ``spread`` is the standard
 *   deviation, null where none exists; ``reason`` says why there is no mean anywhere
 * @typedef {""|"many"|"unsettled"|"undefined"|"overflow"|"reduced"} Reason too many leaps over u; a mean that does not
 *   exist, or only in steps too small to take; not a number; infinite; a mean over x of what is drawn
 * @typedef {{at: Float64Array, rest: Float64Array, weight: Float64Array, ceiling: number}} Nodes within (0, 1), what
 *   they leave to 1, and the largest u
 */

import { hasDraw } from "./draws.js";
import { evaluate, isReduction, operands, UNIFORM } from "./evaluation.js";
import { FUNCTIONS } from "./functions.js";
import { leapsOf, planOf } from "./leaps.js";

/** @import { Tree } from "./evaluation.js" */
/** @import { Place } from "./leaps.js" */

const BLOCK = 4096; // points at a time, which stay in a processor's cache
const [LEAST_U, LARGEST_U] = [1e-300, 1 - 2 ** -53];
const SAMPLES = { rest: 9, quick: 5 }; // x at which nodes are tried
const EXACT = { rest: 1e-7, quick: 2e-4 }; // of the largest value: what more nodes may change
const UNSETTLED = 1e-4; // of it: more than that, and no mean is found
const STEPS = 6000; // of a range: a step of a difference
const LEAST_STEP = 1e-7; // of |x|

/** @typedef {"rest"|"quick"} Pace */

/**
 * Mean and standard deviation of a tree in x, g, u() and normal().
 * @param {Tree} tree
 * @param {Place} place
 * @param {Pace} pace
 * @returns {Expected}
 */
export function expectationOf(tree, place, pace) {
  const nothing = (/** @type {Reason} */ reason) => ({ mean: place.x.map(() => NaN), spread: null, reason });
  if (!hasDraw(tree)) return { mean: evaluate(tree, place), spread: place.x.map(() => 0), reason: "" };
  if (isReduced(tree)) return nothing("reduced");
  const leaps = leapsOf(planOf(tree), place);
  if (!leaps) return nothing("many");
  const fit = nodesFor(tree, place, leaps, pace);
  if (fit.unsettled === "mean") return nothing("unsettled");
  const { mean, variance } = moments(tree, place, leaps, fit.nodes);
  if (!mean.some(Number.isFinite)) return nothing(mean.some(Number.isNaN) ? "undefined" : "overflow");
  return { mean, spread: fit.unsettled ? null : variance.map(Math.sqrt), reason: "" };
}

/** Whether a mean or another reduction is over what is drawn. @param {Tree} tree @returns {boolean} */
function isReduced(tree) {
  if (typeof tree === "number" || !hasDraw(tree)) return false;
  return isReduction(tree) || operands(tree).some(isReduced);
}

/**
 * The nodes that are enough for a tree, tried at a few x; ``unsettled`` says for what more would be needed.
 * @param {Tree} tree
 * @param {Place} place
 * @param {number[][]} leaps
 * @param {Pace} pace
 * @returns {{nodes: Nodes, unsettled: ""|"mean"|"spread"}}
 */
function nodesFor(tree, place, leaps, pace) {
  const { shape } = planOf(tree);
  if (shape === "flat") return { nodes: MIDDLE, unsettled: "" };
  if (shape === "smooth") return { nodes: SMOOTH, unsettled: "" };
  const some = sampled(place, leaps, SAMPLES[pace]);
  const momentsBy = (/** @type {number} */ level) => moments(tree, some.place, some.leaps, ENDS[level]);
  let level = pace === "quick" ? 0 : 1;
  let before = momentsBy(level);
  for (;;) {
    const after = momentsBy(level + 1);
    const far = distance(before, after);
    if (Math.max(far.mean, far.variance) <= EXACT[pace]) return { nodes: ENDS[level], unsettled: "" };
    level += 1;
    if (level + 1 === ENDS.length) {
      if (!(far.mean <= UNSETTLED)) return { nodes: ENDS[level], unsettled: "mean" };
      return { nodes: ENDS[level], unsettled: far.variance <= UNSETTLED ? "" : "spread" };
    }
    before = after;
  }
}

/** Some of the x with their leaps, evenly. @param {Place} place @param {number[][]} leaps @param {number} count */
function sampled(place, leaps, count) {
  const at = Array.from({ length: count }, (_, k) => Math.floor(((k + 0.5) * place.x.length) / count));
  return { place: { ...place, x: Float64Array.from(at, (i) => place.x[i]) }, leaps: at.map((i) => leaps[i]) };
}

/**
 * The largest change from some moments to others as a share of the largest value; of x without a mean none.
 * @param {Moments} one
 * @param {Moments} other
 */
function distance(one, other) {
  const size = (/** @type {Float64Array} */ values) =>
    values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);
  const apart = (/** @type {"mean"|"variance"} */ name) =>
    size(one[name].map((value, i) => value - other[name][i]));
  const [scale, square] = [size(other.size), size(other.size) ** 2 + size(other.variance)];
  if (scale === 0) return { mean: 0, variance: 0 };
  return { mean: apart("mean") / scale, variance: apart("variance") / square };
}

/** ``size`` is the mean of the absolute value. @typedef {Record<"mean"|"size"|"variance", Float64Array>} Moments */

/**
 * Mean and variance over u, a block of x at a time.
 * @param {Tree} tree
 * @param {Place} place
 * @param {number[][]} leaps
 * @param {Nodes} nodes
 * @returns {Moments}
 */
function moments(tree, place, leaps, nodes) {
  const count = place.x.length;
  const [mean, size, variance] = [0, 1, 2].map(() => new Float64Array(count));
  const result = { mean, size, variance };
  for (let first = 0; first < count;) {
    let last = first;
    let points = 0;
    do {
      points += (leaps[last].length + 1) * nodes.at.length;
      last += 1;
    } while (last < count && points < BLOCK);
    addBlock(result, tree, place, leaps, nodes, { first, last, points });
    first = last;
  }
  return result;
}

/**
 * @param {Moments} result
 * @param {Tree} tree
 * @param {Place} place
 * @param {number[][]} leaps
 * @param {Nodes} nodes
 * @param {{first: number, last: number, points: number}} block
 */
function addBlock(result, tree, place, leaps, nodes, { first, last, points }) {
  const [x, u, weight] = [0, 1, 2].map(() => new Float64Array(points));
  const ends = new Int32Array(last - first);
  let to = 0;
  for (let i = first; i < last; i += 1) {
    for (let piece = 0; piece <= leaps[i].length; piece += 1) {
      const [low, high] = [piece ? leaps[i][piece - 1] : 0, leaps[i][piece] ?? 1];
      x.fill(place.x[i], to, to + nodes.at.length);
      putNodes(u, weight, to, low, high, nodes);
      to += nodes.at.length;
    }
    ends[i - first] = to;
  }
  const values = evaluate(tree, { ...place, x, draws: { [UNIFORM]: u } });
  for (let i = first, from = 0; i < last; i += 1) {
    const end = ends[i - first];
    let [mean, size, variance] = [0, 0, 0];
    for (let at = from; at < end; at += 1) {
      mean += weight[at] * values[at];
      size += weight[at] * Math.abs(values[at]);
    }
    for (let at = from; at < end; at += 1) variance += weight[at] * (values[at] - mean) ** 2;
    result.mean[i] = mean;
    result.size[i] = size;
    result.variance[i] = variance;
    from = end;
  }
}

/**
 * The nodes of one stretch of u, none at its ends.
 * @param {Float64Array} u
 * @param {Float64Array} weight
 * @param {number} to
 * @param {number} low
 * @param {number} high
 * @param {Nodes} nodes
 */
function putNodes(u, weight, to, low, high, { at, rest, weight: share, ceiling }) {
  const width = high - low;
  for (let k = 0; k < at.length; k += 1) {
    const value = at[k] < 0.5 ? low + width * at[k] : high - width * rest[k];
    u[to + k] = Math.min(Math.max(value, LEAST_U), ceiling);
    weight[to + k] = width * share[k];
  }
}

/** @param {number[]} at @param {number[]} rest @param {number[]} weight @param {number} ceiling @returns {Nodes} */
function nodesOf(at, rest, weight, ceiling) {
  const sum = weight.reduce((total, each) => total + each, 0);
  const shares = weight.map((each) => each / sum);
  return {
    at: Float64Array.from(at),
    rest: Float64Array.from(rest),
    weight: Float64Array.from(shares),
    ceiling,
  };
}

/** Legendre's nodes, exact for polynomials. @param {number} count */
function legendre(count) {
  const [at, weight] = [[], []].map(() => /** @type {number[]} */ ([]));
  for (let i = 0; i < count; i += 1) {
    let z = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = 0;
    for (let turn = 0; turn < 60; turn += 1) {
      let [value, before] = [1, 0];
      for (let j = 1; j <= count; j += 1)
        [value, before] = [((2 * j - 1) * z * value - (j - 1) * before) / j, value];
      slope = (count * (z * value - before)) / (z * z - 1);
      z -= value / slope;
    }
    at.push((1 - z) / 2);
    weight.push(1 / ((1 - z * z) * slope * slope));
  }
  return nodesOf(
    at,
    at.map((each) => 1 - each),
    weight,
    LARGEST_U,
  );
}

/**
 * Nodes that crowd at both ends, where a logarithm may have no bound and a steep sigmoid is steepest.
 * @param {number} step
 * @param {number} reach the farther, the nearer to the ends
 * @param {number} bits of the largest u: as with ``reach``, a mean without bound differs from one set to the next
 */
function crowded(step, reach, bits) {
  const half = Math.round(reach / step);
  const turns = Array.from({ length: 2 * half + 1 }, (_, k) => Math.PI * Math.sinh((k - half) * step));
  const [at, rest] = [1, -1].map((sign) => turns.map((turn) => FUNCTIONS.sigmoid(sign * turn)));
  const weight = turns.map((turn, k) => Math.hypot(turn, Math.PI) * at[k] * rest[k]);
  return nodesOf(at, rest, weight, 1 - 2 ** -bits);
}

const MIDDLE = nodesOf([0.5], [0.5], [1], LARGEST_U);
const SMOOTH = legendre(16);
const ENDS = [
  crowded(1 / 4, 2.75, 42),
  crowded(1 / 8, 3.25, 46),
  crowded(1 / 16, 3.35, 49),
  crowded(1 / 32, 3.45, 52),
  crowded(1 / 64, 3.5, 53),
];

/** Shares of values at five steps from an x in its slope, in steps: from both sides, from the right. */
const CENTRAL = [1 / 12, -8 / 12, 0, 8 / 12, -1 / 12];
const ONWARD = [-25 / 12, 48 / 12, -36 / 12, 16 / 12, -3 / 12];

/**
 * The slope of a function that is smooth between kinks; at a kink the middle of that of the points on both sides.
 * @param {(x: Float64Array) => Float64Array} mean
 * @param {Float64Array} x ascending
 * @param {number[]} kinks ascending
 * @param {[number, number]} ends of the range
 */
export function slopesOf(mean, x, kinks, [start, stop]) {
  const bounds = [...new Set([start, ...kinks.filter((kink) => kink > start && kink < stop), stop])];
  /** @type {{index: number, at: number, share: number}[]} */
  const terms = [];
  for (let index = 0, behind = 1; index < x.length; index += 1) {
    while (behind < bounds.length - 1 && bounds[behind] <= x[index]) behind += 1;
    terms.push(...differenceAt(index, x[index], bounds[behind - 1], bounds[behind], (stop - start) / STEPS));
  }
  const values = mean(Float64Array.from(terms, ({ at }) => at));
  const slopes = new Float64Array(x.length);
  terms.forEach(({ index, share }, at) => {
    slopes[index] += share * values[at];
  });
  return withMiddles(slopes, x, kinks);
}

/**
 * The terms of a slope that stays within a segment between kinks.
 * @param {number} index
 * @param {number} x
 * @param {number} low
 * @param {number} high
 * @param {number} usual step
 */
function differenceAt(index, x, low, high, usual) {
  const least = LEAST_STEP * Math.max(Math.abs(x), 1e-3);
  const step = Math.max(Math.min(usual, (high - low) / 8), Math.min(least, (high - low) / 8));
  const isCentral = x - 2 * step > low && x + 2 * step < high;
  const way = x + 4 * step < high ? 1 : -1;
  const shares = isCentral ? CENTRAL : ONWARD;
  return shares.flatMap((share, k) => {
    const at = isCentral ? x + (k - 2) * step : x + way * k * step;
    return share ? [{ index, at, share: (isCentral ? share : way * share) / step }] : [];
  });
}

/** Slopes with the middle of both sides at each kink. @param {Float64Array} slopes @param {Float64Array} x @param {number[]} kinks */
export function withMiddles(slopes, x, kinks) {
  const result = slopes.slice();
  for (const kink of kinks) {
    const at = x.indexOf(kink);
    if (at > 0 && at + 1 < x.length) result[at] = (slopes[at - 1] + slopes[at + 1]) / 2;
  }
  return result;
}
