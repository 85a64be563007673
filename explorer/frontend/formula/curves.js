/**
 * Curves of an op and its backward rules, sampled over a range of x in the browser. The x are those of
 * ``explorer.sample`` in float64; the values agree up to rounding.
 * @typedef {{start: number, stop: number, g: number}} Range ends of the x axis, and the upstream gradient g
 * @typedef {object} Choice settings for the sampling
 * @property {number} start the first x @property {number} stop the last x @property {number} g the upstream gradient
 * @property {Record<string, number>} parameters values by name, or by "rule.name" for one rule only
 * @property {string} [learns] the parameter whose gradient is sampled too, as one element's contribution at each x
 * @property {import("./draws.js").Loss} [loss] only for stochastic ops and rules: its derivative times g is the
 *   upstream gradient; the loss is y by default
 * @typedef {object} Curves sampled values; all arrays have the length of ``x``
 * @property {Float64Array} x ascending and distinct
 * @property {Int8Array} marks kind of each x: EVEN grid point, KINK, or NEIGHBOUR of a kink
 * @property {Float64Array} y the op's output
 * @property {Record<string, Float64Array | null>} gradients gradients by rule key; null if only torch can compute it
 * @property {Record<string, Float64Array | null>} parts one element's contribution to the gradient of the parameter
 *   ``learns``, by rule key; null if the rule cannot train it; empty without ``learns``
 * @property {Record<string, number[] | null>} kinks positions by "forward", rule key or toContributionKey(rule key);
 *   null if too many
 * @property {StochasticCurves} [drawn] only for stochastic ops and rules, whose ``y``, ``gradients`` and ``parts`` are
 *   means over the random numbers
 * @typedef {Float64Array|Float32Array} Floats values of a curve
 */

import { adaptRule, getDisplayName } from "./controls.js";
import { findContribution, getGradientTree } from "./contribution.js";
import { findStochastic } from "./draws.js";
import { computeMeanCurves, OUTPUT, getLossValues } from "./stochastic.js";
import { evaluate } from "./evaluation.js";
import { getNextFloat, getPreviousFloat, makeEvenPoints } from "./floats.js";
import { findCandidates, findEntryKinks, sortOrNull, searchKinks, findMeanKinks } from "./kinks.js";
import { PREVIEW_QUANTILES } from "./means.js";
import { getOwn } from "./records.js";
import { getSampling } from "./sampling.js";

/**
 * A function that returns the kinks of an op, or null if there are too many. ``isTorchs``: whether to return those of
 * autograd's gradient, not of the output.
 * @typedef {(isTorchs: boolean) => number[]|null} GetOpKinks
 */
/** @import { StochasticCurves, Pair } from "./stochastic.js" */
/** @import { Op, Rule } from "./entry.js" */
/** @import { Scope } from "./evaluation.js" */

export const [EVEN, KINK, NEIGHBOUR] = [0, 1, 2];
const MIN_JUMP = 0.02; // fraction of the curve's height; a larger change within one grid step may be a jump
export const QUICK_POINTS = 151; // number of x of a stochastic curve while the user drags a control
const MAX_BISECTIONS = 120; // enough bisections from one grid step down to neighbouring floats, even near 0

/** Return the key of the gradient of a parameter by a rule in ``Curves.kinks``. @param {string} rule the rule's key */
export const toContributionKey = (rule) => `part ${rule}`;

/**
 * Compute the curves of an op and its backward rules over a range of x.
 * @param {{op: Op, rules: Rule[]}} entries @param {Choice} choice
 * @param {{points?: number, quantiles?: number}} [options] ``points``: number of x; ``quantiles``: number of random
 *   values averaged at each x of a stochastic curve
 * @returns {Curves}
 */
export function sampleCurves(
  { op, rules: chosenRules },
  choice,
  { points = getSampling().points, quantiles = PREVIEW_QUANTILES } = {},
) {
  const isRandom = findStochastic([op, ...chosenRules]) !== undefined;
  const rules = chosenRules.map((rule) => adaptRule(op, rule));
  const [start, stop] = orderEnds(choice);
  const range = { start, stop, g: choice.g };
  const parameters = rules.map((rule) => getParameterValues(op, rule, choice.parameters));
  const opValues = getParameterValues(op, null, choice.parameters);
  const getOpKinks = makeOpKinkFinder(op, opValues, range);
  /** @type {Record<string, number[]|null>} */
  const kinks = { forward: getOpKinks(false) };
  rules.forEach((rule, i) => {
    kinks[rule.key] = findRuleKinks(op, rule, parameters[i], range, getOpKinks);
  });
  const learning = rules.map((rule) => (choice.learns ? findContribution(op, rule, choice.learns) : null));
  rules.forEach((rule, i) => {
    const part = learning[i];
    if (part)
      kinks[toContributionKey(rule.key)] = findContributionKinks(
        op,
        rule,
        part,
        parameters[i],
        range,
        getOpKinks,
      );
  });
  if (isRandom) addMeanKinks(kinks, { op, rules }, choice, range);
  const allKinks = Object.values(kinks).flatMap((each) => each ?? []);
  const { x, marks } = makeGrid(start, stop, points, allKinks);
  const { learns } = choice;
  const pairs = rules.map((rule, i) => ({
    ...{ key: rule.key, gradient: getGradientTree(op, rule, learns), parameters: parameters[i] },
    part: learns ? (findContribution(op, rule, learns)?.tree ?? null) : null,
  }));
  const values = isRandom
    ? evaluateMeans(x, { op, pairs, parameters: opValues }, choice, range, quantiles)
    : evaluateCurves(x, marks, { op, pairs, parameters: opValues }, range, Boolean(choice.learns));
  return { x, marks, kinks, ...values };
}

let lastReference = { start: NaN, stop: NaN, x: /** @type {Float64Array} */ (new Float64Array(0)) };

/**
 * Return the x over which formulas such as mean(x) average, for a range of the axis.
 * @param {{start: number, stop: number}} range
 */
function getReference({ start, stop }) {
  const isKept = lastReference.start === start && lastReference.stop === stop;
  if (!isKept) lastReference = { start, stop, x: makeEvenPoints(start, stop, getSampling().reference) };
  return lastReference.x;
}

/**
 * An op with the values of its parameters, and the formulas of its rules.
 * @typedef {{op: Op, pairs: Pair[], parameters: Record<string, number>}} Evaluated
 */

/**
 * Evaluate the curves of an op and its rules at each x. If a jump of the op comes slightly after its kink, ``x`` is
 * changed in place to the first float beyond the jump.
 * @param {Float64Array} x @param {Int8Array} marks @param {Evaluated} evaluated @param {Range} range
 * @param {boolean} learns whether a parameter's gradient is sampled too
 */
function evaluateCurves(x, marks, { op, pairs, parameters }, range, learns) {
  const forward = (/** @type {Float64Array} */ some) =>
    evaluate(op.tree, createScopeAt(op, parameters, range)(some));
  const early = forward(x);
  const jumps = findLateJumps(x, marks, early, forward);
  for (const [i, value] of jumps) x[i] = value;
  const y = jumps.size ? forward(x) : early;
  /** @type {Record<string, Float64Array|null>} */
  const gradients = {};
  /** @type {Record<string, Float64Array|null>} */
  const parts = {};
  for (const { key, gradient, part, parameters: values } of pairs) {
    const evaluateTree = (/** @type {import("./evaluation.js").Tree|null} */ tree) =>
      tree === null ? null : evaluate(tree, createScopeAt(op, values, range)(x));
    gradients[key] = evaluateTree(gradient);
    if (learns) parts[key] = evaluateTree(part);
  }
  return { y, gradients, parts };
}

/**
 * @param {Float64Array} x @param {Evaluated} evaluated @param {Choice} choice @param {Range} range
 * @param {number} quantiles number of random values averaged at each x
 */
function evaluateMeans(
  x,
  { op, pairs, parameters },
  { loss = OUTPUT, parameters: settings },
  { start, stop, g },
  quantiles,
) {
  const lossValues = getLossValues(loss, settings);
  const setup = {
    ...{ op, loss, parameters: { ...lossValues, ...parameters } },
    pairs: pairs.map((pair) => ({ ...pair, parameters: { ...lossValues, ...pair.parameters } })),
  };
  const reference = getReference({ start, stop });
  return computeMeanCurves(setup, { x, ends: [start, stop], g, reference }, quantiles);
}

/**
 * Return the values of all parameters of an op and a rule, by name. A parameter that both have is one parameter, with
 * the op's default.
 * @param {Op} op @param {Rule | null} rule adapted to the op
 * @param {Record<string, number>} settings values set by the user, by control name
 */
export function getParameterValues(op, rule, settings) {
  /** @type {Record<string, number>} */
  const values = {};
  for (const { name, default: usual } of op.parameters) values[name] = getOwn(settings, name) ?? usual;
  for (const parameter of rule?.parameters ?? []) {
    const { name, default: usual } = parameter;
    const qualified = `${rule?.key}.${getDisplayName(parameter)}`;
    values[name] = getOwn(values, name) ?? getOwn(settings, qualified) ?? getOwn(settings, name) ?? usual;
  }
  return values;
}

/**
 * Return the ends of a range in ascending order. If they are equal, each is moved outwards by 1.
 * @param {{start: number, stop: number}} choice
 */
export function orderEnds({ start, stop }) {
  const [low, high] = [Math.min(start, stop), Math.max(start, stop)];
  return low === high ? [low - 1, high + 1] : [low, high];
}

/**
 * Return a function that maps an array of x to the values of all variables in the formulas of the op and its rules.
 * @param {Op} op @param {Record<string, number>} parameters values by name, from ``getParameterValues``
 * @param {Range} range
 */
export function createScopeAt(op, parameters, { start, stop, g }) {
  /** @type {Scope|undefined} */
  let reference;
  /** @param {Float64Array} x @returns {Scope} */
  const scopeAt = (x) => ({
    x,
    g,
    parameters,
    get y() {
      const y = evaluate(op.tree, this);
      Object.defineProperty(this, "y", { value: y });
      return y;
    },
    get reference() {
      reference ??= scopeAt(makeEvenPoints(start, stop, getSampling().reference));
      return reference;
    },
  });
  return scopeAt;
}

/**
 * Return a cached function that finds the kinks of an op, for its output or for autograd's gradient.
 * @param {Op} op @param {Record<string, number>} parameters values of all its parameters @param {Range} range
 * @returns {GetOpKinks}
 */
function makeOpKinkFinder(op, parameters, range) {
  const search = makeSearch(op, parameters, range, false);
  const watched = /** @type {import("./kinks.js").KinkSource} */ (op);
  const candidates = op.kinks ? null : findCandidates(watched, search);
  const [findForRule, findForTorch] = [false, true].map((each) =>
    cacheResult(() => findEntryKinks(op, { ...search, torchs: each }, parameters, candidates)),
  );
  return (isTorchs) => (isTorchs ? findForTorch() : findForRule());
}

/** @template T @param {() => T} compute @returns {() => T} */
function cacheResult(compute) {
  /** @type {{value: T}|undefined} */
  let cached;
  return () => (cached ??= { value: compute() }).value;
}

/**
 * Find the kinks of a backward rule's gradient, or return null if there are too many. Jumps of the op count only if the
 * formula of the rule contains y.
 * @param {Op} op @param {Rule} rule @param {Record<string, number>} parameters @param {Range} range
 * @param {GetOpKinks} getOpKinks
 */
function findRuleKinks(op, rule, parameters, range, getOpKinks) {
  const forward = getOpKinks(!rule.tree);
  // autograd's gradient of a piecewise constant op is 0 on both sides of a jump
  if (!rule.tree) return forward ?? (op.flat ? [] : null);
  const ruleKinks = findEntryKinks(rule, makeSearch(op, parameters, range, false), parameters);
  const forwardKinks = forward ?? (rule.usesY ? null : []);
  return forwardKinks && ruleKinks && sortOrNull([...forwardKinks, ...ruleKinks]);
}

/**
 * Add the kinks of the mean curves of stochastic ops and rules to ``kinks``. They arise where the loss, y or g changes
 * abruptly.
 * @param {Record<string, number[]|null>} kinks positions by the key of the curve
 * @param {{op: Op, rules: Rule[]}} entries @param {Choice} choice @param {Range} range
 */
function addMeanKinks(kinks, { op, rules }, { loss = OUTPUT, parameters: settings }, range) {
  const lossValues = getLossValues(loss, settings);
  for (const [key, existing] of Object.entries(kinks)) {
    if (!existing) continue;
    const rule = rules.find((each) => each.key === key) ?? null;
    const trees = [loss.tree, loss.gradient, ...(rule?.tree ? [rule.tree] : [])];
    const search = makeSearch(op, { ...lossValues, ...getParameterValues(op, rule, settings) }, range, false);
    const further = findMeanKinks(trees, { op, loss }, search, existing);
    kinks[key] = further && sortOrNull([...existing, ...further]);
  }
}

/**
 * @param {Op} op @param {Rule} rule
 * @param {import("./contribution.js").Contribution} part the formula of the contribution
 * @param {Record<string, number>} parameters @param {Range} range @param {GetOpKinks} getOpKinks
 */
function findContributionKinks(op, rule, { origin, watched }, parameters, range, getOpKinks) {
  const ruleKinks = origin === "torch" ? [] : findRuleKinks(op, rule, parameters, range, getOpKinks);
  const ownKinks = watched ? searchKinks(watched, makeSearch(op, parameters, range, false)) : [];
  const all = [getOpKinks(false), ruleKinks, ownKinks];
  return all.includes(null) ? null : sortOrNull(all.flatMap((some) => some ?? []));
}

/**
 * @param {Op} op @param {Record<string, number>} parameters @param {Range} range
 * @param {boolean} torchs whether to search for kinks of autograd's gradient
 */
function makeSearch(op, parameters, range, torchs) {
  const scopeAt = createScopeAt(op, parameters, range);
  /** @type {import("./kinks.js").OpSlope} */
  const opSlope = (x, upstream) => evaluate(op.gradient ?? 0, Object.assign(scopeAt(x), { g: upstream }));
  return { scopeAt, start: range.start, stop: range.stop, opSlope, torchs };
}

/**
 * Return the x at which curves are sampled, in ascending order, and the kind of each: EVEN, KINK or NEIGHBOUR.
 * @param {number} start @param {number} stop @param {number} points @param {number[]} kinks
 */
function makeGrid(start, stop, points, kinks) {
  /** @type {Map<number, number>} */
  const marks = new Map();
  for (const x of makeEvenPoints(start, stop, points)) marks.set(x, EVEN);
  // Rounding in the op, as by a division, can delay its jump at a kink to the fourth-nearest float64.
  for (const x of kinks)
    for (const next of [getNextFloat, getPreviousFloat])
      for (const near of [next(x), next(next(next(next(x))))]) marks.set(near, NEIGHBOUR);
  for (const x of kinks) marks.set(x, KINK);
  const x = Float64Array.from(marks.keys())
    .filter((at) => at >= start && at <= stop)
    .sort();
  return { x, marks: Int8Array.from(x, (at) => marks.get(at) ?? EVEN) };
}

/**
 * Find jumps more than four floats past their kink, like explorer/curves/grids.py. Returns the first x beyond each
 * jump, by the index of the grid point that it replaces.
 * @param {Float64Array} x @param {Int8Array} marks @param {Float64Array} y
 * @param {(x: Float64Array) => Float64Array} curve
 */
function findLateJumps(x, marks, y, curve) {
  const sorted = y.filter(Number.isFinite).sort();
  const minJump = MIN_JUMP * (sorted[sorted.length - 1] - sorted[0]);
  /** @type {[number, number][]} */
  const steps = [];
  marks.forEach((mark, at) => {
    for (const side of mark === KINK ? [-1, 1] : []) {
      const [near, far] = [at + 2 * side, at + 3 * side];
      const may = marks[near] === NEIGHBOUR && marks[far] === EVEN && Math.abs(y[far] - y[near]) > minJump;
      if (may) steps.push([near, far]);
    }
  });
  const [inner, outer] = [0, 1].map((end) => Float64Array.from(steps, (step) => x[step[end]]));
  bisectIntervals(curve, inner, outer);
  const [before, after] = [curve(inner), curve(outer)];
  /** @type {Map<number, number>} */
  const jumps = new Map();
  steps.forEach(([near, far], i) => {
    if (Math.abs(after[i] - before[i]) > Math.abs(y[far] - y[near]) / 2) jumps.set(near, outer[i]);
  });
  return jumps;
}

/**
 * Bisect intervals of x in place until their ends are neighbouring floats. Each step keeps the half with the larger
 * change.
 * @param {(x: Float64Array) => Float64Array} curve @param {Float64Array} inner one end of each interval
 * @param {Float64Array} outer the other end
 */
function bisectIntervals(curve, inner, outer) {
  for (let halving = 0; inner.length && halving < MAX_BISECTIONS; halving += 1) {
    const middle = inner.map((value, i) => (value + outer[i]) / 2);
    const [first, second, third] = [inner, middle, outer].map(curve);
    middle.forEach((value, i) => {
      const isInner = Math.abs(second[i] - first[i]) <= Math.abs(third[i] - second[i]);
      (isInner ? inner : outer)[i] = value;
    });
  }
}
