/**
 * Curves: an op and rules sampled over a range, at once in the browser. The same x as explorer.sample
 * takes in float64, and its values but for rounding.
 *
 * @typedef {{start: number, stop: number, g: number}} Range
 *
 * @typedef {object} Choice
 * @property {number} start
 * @property {number} stop
 * @property {number} g
 * @property {Record<string, number>} parameters by name, or "rule.name" for one rule only
 * @property {string} [learns] the parameter whose contributions are sampled too
 * @property {import("./draws.js").Loss} [loss] of what draws: its derivative times g is the upstream gradient then;
 *   without one it is y itself
 *
 * @typedef {object} Curves
 * @property {Float64Array} x ascending and distinct
 * @property {Int8Array} marks EVEN, KINK or BESIDE for each x
 * @property {Float64Array} y
 * @property {Record<string, Float64Array | null>} gradients by rule key; null where only torch knows it
 * @property {Record<string, Float64Array | null>} parts by rule key: what one element contributes to the
 *   gradient for the parameter that learns, null where it cannot learn by a rule; none without one
 * @property {Record<string, number[] | null>} kinks by "forward", rule key or partKey of one; null for too many
 * @property {Drawn} [drawn] where something is drawn: y, gradients and parts are means then
 * @typedef {Float64Array|Float32Array} Floats
 */

import { beside, shownName } from "./controls.js";
import { contributionOf, gradientOf } from "./contribution.js";
import { firstDrawn } from "./draws.js";
import { drawnCurves, OUTPUT, valuesOfLoss } from "./drawn.js";
import { evaluate } from "./evaluation.js";
import { above, below, evenPoints } from "./floats.js";
import { candidatesOf, entryKinks, few, searched, throughKinks } from "./kinks.js";
import { FEW } from "./means.js";
import { held } from "./records.js";
import { sampling } from "./sampling.js";

/** @typedef {(isTorchs: boolean) => number[]|null} OfOp the kinks of an op; null for too many */
/** @import { Drawn, Pair } from "./drawn.js" */
/** @import { Op, Rule } from "./entry.js" */
/** @import { Scope } from "./evaluation.js" */

export const [EVEN, KINK, BESIDE] = [0, 1, 2];
const MUCH = 0.02; // of a curve's height: a change within a step of the grid that may be a jump
export const QUICK = 151; // points of what draws under a moving hand
const HALVINGS = 120; // from a step of the grid to neighbours next to 0

/** The key of a rule's contributions among kinks. @param {string} rule its key */
export const partKey = (rule) => `part ${rule}`;

/**
 * @param {{op: Op, rules: Rule[]}} entries
 * @param {Choice} choice
 * @param {{points?: number, quantiles?: number}} [options] ``quantiles`` that the means of what draws are over
 * @returns {Curves}
 */
export function sampleCurves(
  { op, rules: given },
  choice,
  { points = sampling().points, quantiles = FEW } = {},
) {
  const isRandom = firstDrawn([op, ...given]) !== undefined;
  const rules = given.map((rule) => beside(op, rule));
  const [start, stop] = rangeOf(choice);
  const range = { start, stop, g: choice.g };
  const parameters = rules.map((rule) => valuesOf(op, rule, choice.parameters));
  const alone = valuesOf(op, null, choice.parameters);
  const ofOp = kinksOfOp(op, alone, range);
  /** @type {Record<string, number[]|null>} */
  const kinks = { forward: ofOp(false) };
  rules.forEach((rule, i) => {
    kinks[rule.key] = kinksOf(op, rule, parameters[i], range, ofOp);
  });
  const learning = rules.map((rule) => (choice.learns ? contributionOf(op, rule, choice.learns) : null));
  rules.forEach((rule, i) => {
    const part = learning[i];
    if (part) kinks[partKey(rule.key)] = partKinks(op, rule, part, parameters[i], range, ofOp);
  });
  if (isRandom) addThrough(kinks, { op, rules }, choice, range);
  const every = Object.values(kinks).flatMap((each) => each ?? []);
  const { x, marks } = grid(start, stop, points, every);
  const pairs = rules.map((rule, i) => pairOf(op, rule, parameters[i], choice.learns));
  const values = isRandom
    ? meansOn(x, { op, pairs, parameters: alone }, choice, range, quantiles)
    : valuesOn(x, marks, { op, pairs, parameters: alone }, range, Boolean(choice.learns));
  return { x, marks, kinks, ...values };
}

let lastReference = { start: NaN, stop: NaN, x: /** @type {Float64Array} */ (new Float64Array(0)) };

/** The x of means in formulas, kept while the range stays. @param {{start: number, stop: number}} range */
function referenceOf({ start, stop }) {
  const isKept = lastReference.start === start && lastReference.stop === stop;
  if (!isKept) lastReference = { start, stop, x: evenPoints(start, stop, sampling().reference) };
  return lastReference.x;
}

/** @param {Op} op @param {Rule} rule @param {Record<string, number>} parameters @param {string} [learns] @returns {Pair} */
function pairOf(op, rule, parameters, learns) {
  const part = learns ? (contributionOf(op, rule, learns)?.tree ?? null) : null;
  return { key: rule.key, gradient: gradientOf(op, rule, learns), part, parameters };
}

/** An op with what is evaluated of its rules. @typedef {{op: Op, pairs: Pair[], parameters: Record<string, number>}} Evaluated */

/**
 * The values of all curves; x is moved to jumps that come late.
 * @param {Float64Array} x
 * @param {Int8Array} marks
 * @param {Evaluated} evaluated
 * @param {Range} range
 * @param {boolean} learns
 */
function valuesOn(x, marks, { op, pairs, parameters }, range, learns) {
  const forward = (/** @type {Float64Array} */ some) =>
    evaluate(op.tree, scopeMaker(op, parameters, range)(some));
  const early = forward(x);
  const late = lateJumps(x, marks, early, forward);
  for (const [i, value] of late) x[i] = value;
  const y = late.size ? forward(x) : early;
  /** @type {Record<string, Float64Array|null>} */
  const gradients = {};
  /** @type {Record<string, Float64Array|null>} */
  const parts = {};
  for (const { key, gradient, part, parameters: values } of pairs) {
    const at = (/** @type {import("./evaluation.js").Tree|null} */ tree) =>
      tree === null ? null : evaluate(tree, scopeMaker(op, values, range)(x));
    gradients[key] = at(gradient);
    if (learns) parts[key] = at(part);
  }
  return { y, gradients, parts };
}

/**
 * The means of all curves over what is drawn.
 * @param {Float64Array} x
 * @param {Evaluated} evaluated
 * @param {Choice} choice
 * @param {Range} range
 * @param {number} quantiles
 */
function meansOn(
  x,
  { op, pairs, parameters },
  { loss = OUTPUT, parameters: settings },
  { start, stop, g },
  quantiles,
) {
  const own = valuesOfLoss(loss, settings);
  const drawing = {
    ...{ op, loss, parameters: { ...own, ...parameters } },
    pairs: pairs.map((pair) => ({ ...pair, parameters: { ...own, ...pair.parameters } })),
  };
  const reference = referenceOf({ start, stop });
  return drawnCurves(drawing, { x, ends: [start, stop], g, reference }, quantiles);
}

/**
 * The values of all parameters of an op and a rule: a name both have is one, with the op's default.
 * @param {Op} op
 * @param {Rule | null} rule as it stands beside the op
 * @param {Record<string, number>} settings
 */
export function valuesOf(op, rule, settings) {
  /** @type {Record<string, number>} */
  const values = {};
  for (const { name, default: usual } of op.parameters) values[name] = held(settings, name) ?? usual;
  for (const parameter of rule?.parameters ?? []) {
    const { name, default: usual } = parameter;
    const qualified = `${rule?.key}.${shownName(parameter)}`;
    values[name] = held(values, name) ?? held(settings, qualified) ?? held(settings, name) ?? usual;
  }
  return values;
}

/** Both ends in order, 1 to both sides where they are equal. @param {{start: number, stop: number}} choice */
export function rangeOf({ start, stop }) {
  const [low, high] = [Math.min(start, stop), Math.max(start, stop)];
  return low === high ? [low - 1, high + 1] : [low, high];
}

/**
 * The function from x to all that a formula may name at x.
 * @param {Op} op
 * @param {Record<string, number>} parameters as of valuesOf
 * @param {Range} range
 */
export function scopeMaker(op, parameters, { start, stop, g }) {
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
      reference ??= scopeAt(evenPoints(start, stop, sampling().reference));
      return reference;
    },
  });
  return scopeAt;
}

/**
 * The kinks of an op, whether its gradient is torch's own or not; what is the same for both and for all rules is
 * looked for once.
 * @param {Op} op
 * @param {Record<string, number>} parameters all of the op's
 * @param {Range} range
 * @returns {OfOp}
 */
function kinksOfOp(op, parameters, range) {
  const search = searchOf(op, parameters, range, false);
  const watched = /** @type {import("./kinks.js").Watched} */ (op);
  const candidates = op.kinks ? null : candidatesOf(watched, search);
  const [own, torchs] = [false, true].map((each) =>
    once(() => entryKinks(op, { ...search, torchs: each }, parameters, candidates)),
  );
  return (isTorchs) => (isTorchs ? torchs() : own());
}

/** @template T @param {() => T} compute @returns {() => T} */
function once(compute) {
  /** @type {{value: T}|undefined} */
  let known;
  return () => (known ??= { value: compute() }).value;
}

/**
 * The kinks of an op and a rule within a range.
 * @param {Op} op
 * @param {Rule} rule
 * @param {Record<string, number>} parameters
 * @param {Range} range
 */
export function pairKinks(op, rule, parameters, range) {
  return kinksOf(op, rule, parameters, range, kinksOfOp(op, parameters, range));
}

/**
 * The kinks of an op and a rule. A rule without y does not jump where its op does.
 * @param {Op} op
 * @param {Rule} rule
 * @param {Record<string, number>} parameters
 * @param {Range} range
 * @param {OfOp} ofOp
 */
function kinksOf(op, rule, parameters, range, ofOp) {
  const forward = ofOp(!rule.tree);
  if (!rule.tree) return forward ?? (op.flat ? [] : null); // torch's gradient is 0, jumps or not
  const own = entryKinks(rule, searchOf(op, parameters, range, false), parameters);
  const through = forward ?? (rule.usesY ? null : []);
  return through && own && few([...through, ...own]);
}

/**
 * Add to the kinks of means those that the loss makes, and a rule through y, g and the loss.
 * @param {Record<string, number[]|null>} kinks of each curve, by its key
 * @param {{op: Op, rules: Rule[]}} entries
 * @param {Choice} choice
 * @param {Range} range
 */
function addThrough(kinks, { op, rules }, { loss = OUTPUT, parameters: settings }, range) {
  const own = valuesOfLoss(loss, settings);
  for (const [key, known] of Object.entries(kinks)) {
    if (!known) continue;
    const rule = rules.find((each) => each.key === key) ?? null;
    const trees = [loss.tree, loss.gradient, ...(rule?.tree ? [rule.tree] : [])];
    const search = searchOf(op, { ...own, ...valuesOf(op, rule, settings) }, range, false);
    const more = throughKinks(trees, { op, loss }, search, known);
    kinks[key] = more && few([...known, ...more]);
  }
}

/**
 * The kinks of an op alone, ascending, from one x to another; null for too many.
 * @param {Op} op
 * @param {Record<string, number>} parameters all of the op's
 * @param {[number, number]} span that a mean is over
 * @param {[number, number]} ends
 */
export function opKinks(op, parameters, [first, last], [start, stop]) {
  const search = searchOf(op, parameters, { start: first, stop: last, g: 1 }, false);
  return entryKinks(op, { ...search, start, stop }, parameters);
}

/**
 * The kinks of a contribution: the op's, where it hangs on the rule the rule's, and its own.
 * @param {Op} op
 * @param {Rule} rule
 * @param {import("./contribution.js").Contribution} part
 * @param {Record<string, number>} parameters
 * @param {Range} range
 * @param {OfOp} ofOp
 */
function partKinks(op, rule, { origin, watched }, parameters, range, ofOp) {
  const ofRule = origin === "torch" ? [] : kinksOf(op, rule, parameters, range, ofOp);
  const own = watched ? searched(watched, searchOf(op, parameters, range, false)) : [];
  const all = [ofOp(false), ofRule, own];
  return all.includes(null) ? null : few(all.flatMap((some) => some ?? []));
}

/**
 * The range in which kinks of an op and a rule are looked for, with the functions on it.
 * @param {Op} op
 * @param {Record<string, number>} parameters
 * @param {Range} range
 * @param {boolean} torchs
 */
function searchOf(op, parameters, range, torchs) {
  const scopeAt = scopeMaker(op, parameters, range);
  /** @type {import("./kinks.js").OpSlope} */
  const opSlope = (x, upstream) => evaluate(op.gradient ?? 0, Object.assign(scopeAt(x), { g: upstream }));
  return { scopeAt, start: range.start, stop: range.stop, opSlope, torchs };
}

/**
 * The x of curves, ascending and distinct, and the mark of each.
 * @param {number} start
 * @param {number} stop
 * @param {number} points
 * @param {number[]} kinks
 */
function grid(start, stop, points, kinks) {
  /** @type {Map<number, number>} */
  const marks = new Map();
  for (const x of evenPoints(start, stop, points)) marks.set(x, EVEN);
  for (const x of kinks) for (const near of neighbours(x)) marks.set(near, BESIDE);
  for (const x of kinks) marks.set(x, KINK);
  const x = Float64Array.from(marks.keys())
    .filter((at) => at >= start && at <= stop)
    .sort();
  return { x, marks: Int8Array.from(x, (at) => marks.get(at) ?? EVEN) };
}

/**
 * The nearest floats beside a kink, and the fourth ones:
 * where an op divides first, a jump may come that late.
 * @param {number} x
 */
function neighbours(x) {
  return [above, below].flatMap((next) => [next(x), next(next(next(next(x))))]);
}

/**
 * Jumps that come later than four floats behind a kink: the index of its outer float, and the x to stand there.
 * As in explorer/curves/grids.py.
 * @param {Float64Array} x
 * @param {Int8Array} marks
 * @param {Float64Array} y
 * @param {(x: Float64Array) => Float64Array} curve
 */
function lateJumps(x, marks, y, curve) {
  const usual = y.filter(Number.isFinite).sort();
  const much = MUCH * (usual[usual.length - 1] - usual[0]);
  /** @type {[number, number][]} */
  const steps = [];
  marks.forEach((mark, at) => {
    for (const side of mark === KINK ? [-1, 1] : []) {
      const [near, far] = [at + 2 * side, at + 3 * side];
      const may = marks[near] === BESIDE && marks[far] === EVEN && Math.abs(y[far] - y[near]) > much;
      if (may) steps.push([near, far]);
    }
  });
  const [inner, outer] = [0, 1].map((end) => Float64Array.from(steps, (step) => x[step[end]]));
  narrow(curve, inner, outer);
  const [before, behind] = [curve(inner), curve(outer)];
  /** @type {Map<number, number>} */
  const found = new Map();
  steps.forEach(([near, far], i) => {
    if (Math.abs(behind[i] - before[i]) > Math.abs(y[far] - y[near]) / 2) found.set(near, outer[i]);
  });
  return found;
}

/**
 * Sets pairs of x to the neighbouring floats between them where most of the change is.
 * @param {(x: Float64Array) => Float64Array} curve
 * @param {Float64Array} inner
 * @param {Float64Array} outer
 */
function narrow(curve, inner, outer) {
  for (let halving = 0; inner.length && halving < HALVINGS; halving += 1) {
    const middle = inner.map((value, i) => (value + outer[i]) / 2);
    const [first, second, third] = [inner, middle, outer].map(curve);
    middle.forEach((value, i) => {
      const isInner = Math.abs(second[i] - first[i]) <= Math.abs(third[i] - second[i]);
      (isInner ? inner : outer)[i] = value;
    });
  }
}
