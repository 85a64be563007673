// Branch points: steps from which a run continues with another learning rate, op or rule.

import { findEntry } from "../../choice/entries.js";
import { formatShort } from "../../formula/numbers.js";
import { buildSeries, makeLegend } from "./series.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { LegendEntry, Series } from "./series.js" */
/**
 * A branch point: starting at ``step``, ``name`` has another ``value``. The name is "lr", "op", "rule" for all curves,
 * or the key of the rule whose curve changes.
 * @typedef {{step: number, name: string, value: string}} Point
 */

/**
 * Parse branch points from text with one point per line, such as "40,lr:0.01".
 * @param {string} [text] @param {string[]} [keys] keys of rules, since they may contain a colon @returns {Point[]}
 */
export function parseBranches(text = "", keys = []) {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => pointOf(line, keys));
}

/** @param {string} line @param {string[]} keys @returns {Point} */
function pointOf(line, keys) {
  const comma = line.indexOf(",");
  const rest = line.slice(comma + 1);
  const matches = keys
    .filter((key) => rest.startsWith(`${key}:`))
    .sort((one, other) => other.length - one.length);
  const name = matches[0] ?? rest.slice(0, rest.indexOf(":"));
  return { step: Number(line.slice(0, comma)), name, value: rest.slice(name.length + 1) };
}

/** Format branch points as text with one point per line, such as "40,lr:0.01". @param {Point[]} points */
export function formatBranches(points) {
  return points.map(({ step, name, value }) => `${step},${name}:${value}`).join("\n");
}

/**
 * Return a copy of the settings with other branch points.
 * @param {Choice} choice @param {Point[]} points @returns {Choice}
 */
export function withPoints(choice, points) {
  const { branch: _, ...training } = choice.training;
  return { ...choice, training: points.length ? { ...training, branch: formatBranches(points) } : training };
}

/**
 * Add a branch point to a list. Points that it replaces, or that come later, are left out.
 * @param {Point[]} points @param {Point} point
 */
export function branchAt(points, point) {
  const before = points.filter(
    ({ step, name }) => step < point.step || (step === point.step && name !== point.name),
  );
  return [...before, point];
}

/**
 * Return the learning rate at a step of a run with branch points.
 * @param {Point[]} points @param {number} at the step @param {string} start the initial learning rate
 */
export function rateAt(points, at, start) {
  return points.filter(({ step, name }) => name === "lr" && step <= at).at(-1)?.value ?? start;
}

/**
 * Return the keys of the op and the rule with which the last of a number of steps was taken.
 * @param {Point[]} points @param {number} steps number of steps
 * @param {{op: string, rule: string}} start the initial keys
 */
export function findKeysInForce(points, steps, { op, rule }) {
  const findLast = (/** @type {string[]} */ ...names) =>
    points.filter(({ step, name }) => step < steps && names.includes(name)).at(-1)?.value;
  return { op: findLast("op") ?? op, rule: findLast("rule", rule) ?? rule };
}

/**
 * Return legend entries whose labels include the rule with which a curve continues, as in "STE → tanh".
 * @param {LegendEntry[]} lines @param {Point[]} points @param {number} steps number of steps
 * @returns {(LegendEntry & {onward: string})[]} ``onward``: the label of that rule, or ""
 */
export function labelLines(lines, points, steps) {
  return lines.map((line) => {
    const { rule } = findKeysInForce(points, steps, { op: "", rule: line.key });
    const onward = rule === line.key ? "" : labelOf("rule", rule);
    return { ...line, label: extendName(line.label, line.key, rule), onward };
  });
}

/**
 * Return a curve's name by the rule with which it continues.
 * @param {string} name @param {string} key the initial rule @param {string} rule the present rule
 */
function extendName(name, key, rule) {
  return rule === key ? name : `${labelOf("rule", rule)} (was ${name})`;
}

/**
 * Return whether two lists of branch points are equal. Learning rates are compared as numbers.
 * @param {Point[]} one @param {Point[]} other
 */
export function hasSamePoints(one, other) {
  return JSON.stringify(normalizePoints(one)) === JSON.stringify(normalizePoints(other));
}

/** Convert branch points to comparable arrays. Learning rates become numbers. @param {Point[]} points */
export function normalizePoints(points) {
  return points.map(({ step, name, value }) => [step, name, name === "lr" ? Number(value) : value]);
}

/** Describe a branch point, as in "40: lr 0.01". @param {Point} point */
export function pointText({ step, name, value }) {
  if (name === "lr") return `${step}: lr ${formatShort(Number(value))}`;
  if (name === "op") return `${step}: ${labelOf("op", value)}`;
  return `${step}: ${name === "rule" ? "all" : labelOf("rule", name)} → ${labelOf("rule", value)}`;
}

/** @param {"op"|"rule"} kind @param {string} key */
function labelOf(kind, key) {
  return findEntry(kind, key)?.label ?? key.replace("formula: ", "");
}

/**
 * Return the curves of a run, split at its branch points.
 * @param {import("./series.js").Measure} measure
 * @param {{choice: Choice, snapshot: import("./records.js").Snapshot, recorded?: import("./records.js").Recorded}} run
 * @param {string[]} colours @returns {Series[]}
 */
export function buildBranchedSeries(measure, { choice, snapshot, recorded }, colours) {
  const lines = makeLegend(choice, colours);
  const keys = lines.map(({ key }) => key);
  const free = colours.find((colour) => lines.every((line) => line.colour !== colour)) ?? colours[0];
  const points = parseBranches(recorded?.branch, keys);
  return splitAtBranches(buildSeries(measure, snapshot, lines), points, lines, free);
}

/**
 * Split the curves of a chart at branch points. Later parts are dashed, in the colour of the rule with which the curve
 * continues. Marks for the branch points come last.
 * @param {Series[]} series @param {Point[]} points @param {LegendEntry[]} lines
 * @param {string} other the colour for rules that have no curve @returns {Series[]}
 */
export function splitAtBranches(series, points, lines, other) {
  if (!points.length) return series;
  const curves = series.map((curve) => splitCurve(curve, points, lines, other));
  return [...curves.flatMap(({ parts }) => parts), ...curves.flatMap(({ marks }) => marks)];
}

/**
 * Split one curve at its branch points. Returns its parts, and a mark for each branch point.
 * @param {Series} curve @param {Point[]} points @param {LegendEntry[]} lines
 * @param {string} other the colour for rules that have no curve @returns {{parts: Series[], marks: Series[]}}
 */
function splitCurve(curve, points, lines, other) {
  const start = curve.rule ?? "";
  const relevant = points.filter(({ name }) => ["lr", "op", "rule", start].includes(name));
  const steps = [...new Set(relevant.map(({ step }) => step))].filter((step) => indexAt(curve, step) >= 0);
  const parts = [{ ...cutTo(curve, 0, steps.length ? indexAt(curve, steps[0]) : curve.x.length - 1) }];
  const marks = /** @type {Series[]} */ ([]);
  steps.forEach((step, index) => {
    const [begin, to] = [indexAt(curve, step), steps[index + 1]];
    const { rule } = findKeysInForce(relevant, step + 1, { op: "", rule: start });
    const colour = rule === start ? curve.colour : (lines.find(({ key }) => key === rule)?.colour ?? other);
    const name = extendName(curve.name, start, rule);
    const end = to === undefined ? curve.x.length - 1 : indexAt(curve, to);
    const part = cutTo({ ...curve, name, colour, dash: "dash", meta: undefined }, begin, end);
    parts.push(part);
    if (Number.isFinite(curve.y[begin]))
      marks.push({ ...cutTo(part, 0, 0), low: undefined, high: undefined, symbol: "diamond-open" });
  });
  return {
    parts: parts.map((part, index) => ({ ...part, ends: curve.ends && index === parts.length - 1 })),
    marks: marks.map((mark) => ({ ...mark, ends: false })),
  };
}

/**
 * Return the index of the last point of a curve at or before a step, or −1 if the curve ends earlier.
 * @param {Series} curve @param {number} step
 */
function indexAt({ x }, step) {
  const isThere = x.length > 0 && x[x.length - 1] >= step;
  return isThere ? Array.from(x).findLastIndex((at) => at <= step) : -1;
}

/** @param {Series} curve @param {number} from first index @param {number} to last index @returns {Series} */
function cutTo(curve, from, to) {
  const slice = (/** @type {ArrayLike<number>} */ values) => Array.from(values).slice(from, to + 1);
  return {
    ...curve,
    x: slice(curve.x),
    y: slice(curve.y),
    ...(curve.low && curve.high && { low: slice(curve.low), high: slice(curve.high) }),
  };
}
