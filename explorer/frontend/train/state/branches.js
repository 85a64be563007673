// Branch points: the steps at which a training run continues with another learning rate, op or backward rule.

import { findEntry } from "../../choice/entries.js";
import { formatShort } from "../../formula/numbers.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { LegendEntry, Series } from "./series.js" */
/**
 * A branch point: from ``step`` on, ``name`` has another ``value``. The name is "lr", "op", "rule" for the rule of all
 * lines, or the key of the rule whose line changes.
 * @typedef {{step: number, name: string, value: string}} Point
 */

/**
 * Parse branch points from text with one point per line, such as "40,lr:0.01".
 * @param {string} [text]
 * @param {string[]} [keys] keys of the rules, which may contain a colon
 * @returns {Point[]}
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
 * Append a branch point to a list, and remove all points that it replaces or that come after it.
 * @param {Point[]} points
 * @param {Point} point
 */
export function branchAt(points, point) {
  const before = points.filter(
    ({ step, name }) => step < point.step || (step === point.step && name !== point.name),
  );
  return [...before, point];
}

/**
 * Return the learning rate that applies at a given step of a training run with branch points.
 * @param {Point[]} points
 * @param {number} at
 * @param {string} start the initial learning rate
 */
export function rateAt(points, at, start) {
  return points.filter(({ step, name }) => name === "lr" && step <= at).at(-1)?.value ?? start;
}

/**
 * Return the keys of the op and backward rule that were in effect in the last of a number of training steps.
 * @param {Point[]} points
 * @param {number} steps number of steps
 * @param {{op: string, rule: string}} start the keys before the first branch point
 */
export function findKeysInForce(points, steps, { op, rule }) {
  const findLast = (/** @type {string[]} */ ...names) =>
    points.filter(({ step, name }) => step < steps && names.includes(name)).at(-1)?.value;
  return { op: findLast("op") ?? op, rule: findLast("rule", rule) ?? rule };
}

/**
 * Extend each legend label with the backward rule that replaced the curve's initial rule, as in "STE → tanh".
 * @param {LegendEntry[]} lines
 * @param {Point[]} points
 * @param {number} steps number of steps
 * @returns {(LegendEntry & {onward: string})[]} ``onward`` is the label of another rule that the line has now, or ""
 */
export function labelLines(lines, points, steps) {
  return lines.map((line) => {
    const { rule } = findKeysInForce(points, steps, { op: "", rule: line.key });
    const onward = rule === line.key ? "" : labelOf("rule", rule);
    return { ...line, label: extendName(line.label, line.key, rule), onward };
  });
}

/**
 * Return a curve's name, extended with the backward rule that has replaced its initial rule, if any.
 * @param {string} name
 * @param {string} key of its initial rule
 * @param {string} rule
 */
function extendName(name, key, rule) {
  return rule === key ? name : `${name} → ${labelOf("rule", rule)}`;
}

/**
 * Return whether two lists of branch points are equal. Learning rates are compared as numbers, not as text.
 * @param {Point[]} one
 * @param {Point[]} other
 */
export function hasSamePoints(one, other) {
  return JSON.stringify(normalizePoints(one)) === JSON.stringify(normalizePoints(other));
}

/** Convert branch points to arrays that can be compared as JSON. @param {Point[]} points */
export function normalizePoints(points) {
  return points.map(({ step, name, value }) => [step, name, name === "lr" ? Number(value) : value]);
}

/** Describe a branch point in a few words, such as "40: lr 0.01". @param {Point} point */
export function pointText({ step, name, value }) {
  const change =
    name === "lr"
      ? `lr ${formatShort(Number(value))}`
      : name === "op"
        ? labelOf("op", value)
        : name === "rule"
          ? `all → ${labelOf("rule", value)}`
          : `${labelOf("rule", name)} → ${labelOf("rule", value)}`;
  return `${step}: ${change}`;
}

/** @param {"op"|"rule"} kind @param {string} key */
function labelOf(kind, key) {
  return findEntry(kind, key)?.label ?? key.replace("formula: ", "");
}

/**
 * Split the curves of a chart where their training run branches. Later parts are dashed and have the colour of the
 * backward rule with which the curve continues.
 * @param {Series[]} series
 * @param {Point[]} points
 * @param {LegendEntry[]} lines
 * @param {string} other the colour of rules that have no line
 * @returns {Series[]}
 */
export function splitAtBranches(series, points, lines, other) {
  if (!points.length) return series;
  const curves = series.map((curve) => splitCurve(curve, points, lines, other));
  return [...curves.flatMap(({ parts }) => parts), ...curves.flatMap(({ marks }) => marks)];
}

/**
 * Split one curve at its branch points. Returns its parts, and a marker for each branch point.
 * @param {Series} curve
 * @param {Point[]} points
 * @param {LegendEntry[]} lines
 * @param {string} other
 * @returns {{parts: Series[], marks: Series[]}}
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
      marks.push({ ...cutTo(part, 0, 0), spread: undefined, symbol: "diamond-open" });
  });
  return {
    parts: parts.map((part, index) => ({ ...part, ends: curve.ends && index === parts.length - 1 })),
    marks: marks.map((mark) => ({ ...mark, ends: false })),
  };
}

/**
 * Return the index of a curve's last point at or before a step, or −1 if the curve ends before that step.
 * @param {Series} curve
 * @param {number} step
 */
function indexAt({ x }, step) {
  const isThere = x.length > 0 && x[x.length - 1] >= step;
  return isThere ? Array.from(x).findLastIndex((at) => at <= step) : -1;
}

/**
 * Return the part of a curve between two of its points, given by their indices and both included.
 * @param {Series} curve
 * @param {number} from
 * @param {number} to inclusive
 * @returns {Series}
 */
function cutTo(curve, from, to) {
  const slice = (/** @type {ArrayLike<number>} */ values) => Array.from(values).slice(from, to + 1);
  return {
    ...curve,
    x: slice(curve.x),
    y: slice(curve.y),
    ...(curve.spread && { spread: slice(curve.spread) }),
  };
}
