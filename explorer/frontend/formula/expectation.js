/**
 * Means and standard deviations over u of what a formula draws, at each x: by quadrature between the leaps over u. As
 * in explorer/curves/expectation.
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

/** Mean and standard deviation of a tree. @param {Tree} tree @param {Place} place @param {Pace} pace */
export const expectationOf = (tree, place, pace) => expectationsOf([tree], place, pace)[0];

/**
 * Means and standard deviations of trees in x, g, u() and normal(). What those that leap at the same u have in common
 * is evaluated once.
 * @param {Tree[]} trees
 * @param {Place} place
 * @param {Pace} pace
 * @returns {Expected[]}
 */
export function expectationsOf(trees, place, pace) {
  /** @type {Map<Tree, Expected>} */
  const found = new Map();
  /** @type {Map<string, Tree[]>} */
  const alike = new Map();
  for (const tree of new Set(trees)) {
    const { leapsAt } = planOf(tree);
    if (!hasDraw(tree)) found.set(tree, expectedOf(sure(tree, place), "", place));
    else if (isReduced(tree)) found.set(tree, nothing(place, "reduced"));
    else alike.set(leapsAt, [...(alike.get(leapsAt) ?? []), tree]);
  }
  for (const some of alike.values())
    for (const [tree, expected] of integrated(some, place, pace)) found.set(tree, expected);
  return trees.map((tree) => /** @type {Expected} */ (found.get(tree)));
}

/** The moments of what does not draw. @param {Tree} tree @param {Place} place @returns {Moments} */
function sure(tree, place) {
  const mean = evaluate(tree, place);
  return { mean, size: mean.map(Math.abs), variance: zerosAt(place) };
}

/** @param {Place} place */
const zerosAt = ({ x }) => new Float64Array(x.length);

/** @param {Place} place @param {Reason} reason @returns {Expected} */
const nothing = ({ x }, reason) => ({ mean: x.map(() => NaN), spread: null, reason });

/** Whether a mean or another reduction is over what is drawn. @param {Tree} tree @returns {boolean} */
function isReduced(tree) {
  if (typeof tree === "number" || !hasDraw(tree)) return false;
  return isReduction(tree) || operands(tree).some(isReduced);
}

/** Trees that leap at the same u. @param {Tree[]} trees @param {Place} place @param {Pace} pace @returns {[Tree, Expected][]} */
function integrated(trees, place, pace) {
  const leaps = leapsOf(planOf(trees[0]), place);
  if (!leaps) return trees.map((tree) => [tree, nothing(place, "many")]);
  const fits = fitsOf(trees, place, leaps, pace);
  const moments = momentsOf(
    fits.filter(({ unsettled }) => unsettled !== "mean"),
    place,
    leaps,
  );
  return fits.map(({ tree, unsettled }) => [tree, expectedOf(moments.get(tree), unsettled, place)]);
}

/** @param {Moments|undefined} moments @param {Fit["unsettled"]} unsettled @param {Place} place @returns {Expected} */
function expectedOf(moments, unsettled, place) {
  if (!moments) return nothing(place, "unsettled");
  const { mean, variance } = moments;
  if (!mean.some(Number.isFinite)) return nothing(place, mean.some(Number.isNaN) ? "undefined" : "overflow");
  return { mean, spread: unsettled ? null : variance.map(Math.sqrt), reason: "" };
}

/**
 * The nodes that are enough for a tree; ``unsettled`` says for what more would be needed.
 * @typedef {{tree: Tree, nodes: Nodes, unsettled: ""|"mean"|"spread"}} Fit
 */

/** The fits of trees that leap at the same u. @param {Tree[]} trees @param {Place} place @param {number[][]} leaps @param {Pace} pace @returns {Fit[]} */
function fitsOf(trees, place, leaps, pace) {
  const degreeOf = (/** @type {Tree} */ tree) => planOf(tree).degree;
  const polynomials = trees.filter((tree) => degreeOf(tree) < Infinity);
  const others = trees.filter((tree) => degreeOf(tree) === Infinity);
  const nodes = LEGENDRE[Math.min(Math.max(0, ...polynomials.map(degreeOf)), LEGENDRE.length - 1)];
  return [
    ...polynomials.map((tree) => ({ tree, nodes, unsettled: /** @type {const} */ ("") })),
    ...tried(others, sampled(place, leaps, SAMPLES[pace]), pace),
  ];
}

/** The fits of trees that are no polynomials, tried at a few x. @param {Tree[]} trees @param {{place: Place, leaps: number[][]}} some @param {Pace} pace @returns {Fit[]} */
function tried(trees, some, pace) {
  /** @type {Fit[]} */
  const fits = [];
  const momentsBy = (/** @type {Tree[]} */ left, /** @type {Nodes} */ nodes) =>
    momentsOf(
      left.map((tree) => ({ tree, nodes })),
      some.place,
      some.leaps,
    );
  let left = trees;
  let level = pace === "quick" ? 0 : 1;
  let before = momentsBy(left, ENDS[level]);
  while (left.length) {
    const after = momentsBy(left, ENDS[level + 1]);
    const isLast = level + 2 === ENDS.length;
    left = left.filter((tree) => {
      const far = distance(before, after, tree);
      const isEnough = Math.max(far.mean, far.variance) <= EXACT[pace];
      if (isEnough) fits.push({ tree, nodes: ENDS[level], unsettled: "" });
      else if (isLast) fits.push({ tree, nodes: ENDS[level + 1], unsettled: doubtOf(far) });
      return !isEnough && !isLast;
    });
    before = after;
    level += 1;
  }
  return fits;
}

/** Of what no number of nodes was enough. @param {{mean: number, variance: number}} far how far the last two are apart @returns {Fit["unsettled"]} */
function doubtOf({ mean, variance }) {
  if (!(mean <= UNSETTLED)) return "mean";
  return variance <= UNSETTLED ? "" : "spread";
}

/** Some of the x with their leaps, evenly. @param {Place} place @param {number[][]} leaps @param {number} count */
function sampled(place, leaps, count) {
  const at = Array.from({ length: count }, (_, k) => Math.floor(((k + 0.5) * place.x.length) / count));
  return { place: { ...place, x: Float64Array.from(at, (i) => place.x[i]) }, leaps: at.map((i) => leaps[i]) };
}

/**
 * The largest change from some moments of a tree to others as a share of the largest value; of x without a mean none.
 * @param {Map<Tree, Moments>} before
 * @param {Map<Tree, Moments>} after
 * @param {Tree} tree
 */
function distance(before, after, tree) {
  const [one, other] = [before, after].map((moments) => /** @type {Moments} */ (moments.get(tree)));
  const size = (/** @type {Float64Array} */ values) =>
    values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);
  const apart = (/** @type {"mean"|"variance"} */ name) =>
    size(one[name].map((value, i) => value - other[name][i]));
  const [scale, square] = [size(other.size), size(other.size) ** 2 + size(other.variance)];
  if (scale === 0) return { mean: 0, variance: 0 };
  return { mean: apart("mean") / scale, variance: apart("variance") / square };
}

/** ``size`` is the mean of the absolute value. @typedef {Record<"mean"|"size"|"variance", Float64Array>} Moments */
/** Points of u for each of some x; ``ends`` are theirs. @typedef {{x: Float64Array, u: Float64Array, weight: Float64Array, ends: Int32Array, first: number}} Block */

/**
 * Mean and variance over u of trees that leap at the same u, a block of x at a time.
 * @param {Pick<Fit, "tree"|"nodes">[]} fits
 * @param {Place} place
 * @param {number[][]} leaps
 * @returns {Map<Tree, Moments>}
 */
function momentsOf(fits, place, leaps) {
  const empty = () => ({ mean: zerosAt(place), size: zerosAt(place), variance: zerosAt(place) });
  const result = new Map(fits.map(({ tree }) => [tree, empty()]));
  for (const nodes of new Set(fits.map((fit) => fit.nodes))) {
    const trees = fits.filter((fit) => fit.nodes === nodes).map(({ tree }) => tree);
    for (let first = 0; first < place.x.length;) {
      const block = blockFrom(first, place, leaps, nodes);
      const { x, u } = block;
      const scope = { ...place, x, draws: { [UNIFORM]: u }, parts: new Map() };
      for (const tree of trees)
        addMoments(/** @type {Moments} */ (result.get(tree)), evaluate(tree, scope), block);
      first += block.ends.length;
    }
  }
  return result;
}

/** @param {number} first its x @param {Place} place @param {number[][]} leaps @param {Nodes} nodes @returns {Block} */
function blockFrom(first, place, leaps, nodes) {
  const count = nodes.at.length;
  let [last, points] = [first, 0];
  do points += (leaps[last++].length + 1) * count;
  while (last < leaps.length && points < BLOCK);
  const [x, u, weight] = [0, 1, 2].map(() => new Float64Array(points));
  const ends = new Int32Array(last - first);
  let to = 0;
  for (let i = first; i < last; i += 1) {
    const from = to;
    for (let piece = 0; piece <= leaps[i].length; piece += 1, to += count)
      putNodes(u, weight, to, leaps[i][piece - 1] ?? 0, leaps[i][piece] ?? 1, nodes);
    x.fill(place.x[i], from, to);
    ends[i - first] = to;
  }
  return { x, u, weight, ends, first };
}

/** @param {Moments} moments @param {Float64Array} values @param {Block} block */
function addMoments(moments, values, { weight, ends, first }) {
  for (let i = 0, from = 0; i < ends.length; i += 1) {
    const end = ends[i];
    let [mean, size, variance] = [0, 0, 0];
    for (let at = from; at < end; at += 1) {
      mean += weight[at] * values[at];
      size += weight[at] * Math.abs(values[at]);
    }
    for (let at = from; at < end; at += 1) variance += weight[at] * (values[at] - mean) ** 2;
    moments.mean[first + i] = mean;
    moments.size[first + i] = size;
    moments.variance[first + i] = variance;
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

/** By the degree of a polynomial, of whose square they are exact as well. */
const LEGENDRE = Array.from({ length: 16 }, (_, degree) => legendre(degree + 1));
const ENDS = [
  crowded(1 / 4, 2.75, 42),
  crowded(1 / 8, 3.25, 46),
  crowded(1 / 16, 3.35, 49),
  crowded(1 / 32, 3.45, 52),
  crowded(1 / 64, 3.5, 53),
];

/** Shares of values at even steps in the slope at an x, in steps: from both sides, and from x to the right. */
const SHARES = {
  rest: {
    central: [1 / 12, -8 / 12, 0, 8 / 12, -1 / 12],
    onward: [-25 / 12, 48 / 12, -36 / 12, 16 / 12, -3 / 12],
  },
  quick: { central: [-1 / 2, 0, 1 / 2], onward: [-3 / 2, 2, -1 / 2] },
};

/**
 * The slope of a function that is smooth between kinks; at a kink the middle of that of the points on both sides.
 * @param {(x: Float64Array) => Float64Array} mean
 * @param {Float64Array} x ascending
 * @param {number[]} kinks ascending
 * @param {[number, number]} ends of the range
 * @param {Pace} pace
 */
export function slopesOf(mean, x, kinks, [start, stop], pace) {
  const bounds = [...new Set([start, ...kinks.filter((kink) => kink > start && kink < stop), stop])];
  /** @type {{index: number, at: number, share: number}[]} */
  const terms = [];
  for (let index = 0, behind = 1; index < x.length; index += 1) {
    while (behind < bounds.length - 1 && bounds[behind] <= x[index]) behind += 1;
    const between = { low: bounds[behind - 1], high: bounds[behind], usual: (stop - start) / STEPS };
    for (const term of differenceAt(x[index], between, SHARES[pace])) terms.push({ index, ...term });
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
 * @param {number} x
 * @param {{low: number, high: number, usual: number}} between ``usual`` is the step where there is room
 * @param {typeof SHARES.rest} shares
 */
function differenceAt(x, { low, high, usual }, { central, onward }) {
  const least = LEAST_STEP * Math.max(Math.abs(x), 1e-3);
  const step = Math.max(Math.min(usual, (high - low) / 8), Math.min(least, (high - low) / 8));
  const reach = (central.length - 1) / 2;
  const isCentral = x - reach * step > low && x + reach * step < high;
  const way = x + 2 * reach * step < high ? 1 : -1;
  const shares = isCentral ? central : onward;
  return shares.flatMap((share, k) => {
    const at = isCentral ? x + (k - reach) * step : x + way * k * step;
    return share ? [{ at, share: (isCentral ? share : way * share) / step }] : [];
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
