// Branch points of a run, as a link writes them: what they change, and how lines are drawn from there. No page.

import { findEntry } from "../../choice/entries.js";
import { formatShort } from "../../formula/numbers.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { LegendEntry, Series } from "./series.js" */
/**
 * From ``step`` on the lines of ``name`` have another ``value``: "lr", "op", "rule" of all lines, or a rule.
 * @typedef {{step: number, name: string, value: string}} Point
 */

/**
 * The points of a choice or of what is recorded of a run, one a line.
 * @param {string} [text]
 * @param {string[]} [keys] of the rules, which may hold a colon themselves
 * @returns {Point[]}
 */
export function pointsOf(text = "", keys = []) {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => pointOf(line, keys));
}

/** @param {string} line @param {string[]} keys @returns {Point} */
function pointOf(line, keys) {
  const comma = line.indexOf(",");
  const rest = line.slice(comma + 1);
  const known = keys
    .filter((key) => rest.startsWith(`${key}:`))
    .sort((one, other) => other.length - one.length);
  const name = known[0] ?? rest.slice(0, rest.indexOf(":"));
  return { step: Number(line.slice(0, comma)), name, value: rest.slice(name.length + 1) };
}

/** @param {Point[]} points */
export function textOf(points) {
  return points.map(({ step, name, value }) => `${step},${name}:${value}`).join("\n");
}

/** @param {Choice} choice @param {Point[]} points @returns {Choice} */
export function withPoints(choice, points) {
  const { branch: _, ...training } = choice.training;
  return { ...choice, training: points.length ? { ...training, branch: textOf(points) } : training };
}

/**
 * The points up to a step, then another point in place of the later ones.
 * @param {Point[]} points
 * @param {Point} point
 */
export function branchedAt(points, point) {
  const before = points.filter(
    ({ step, name }) => step < point.step || (step === point.step && name !== point.name),
  );
  return [...before, point];
}

/**
 * The learning rate in force at a step.
 * @param {Point[]} points
 * @param {number} at
 * @param {string} start what it begins with
 */
export function rateAt(points, at, start) {
  return points.filter(({ step, name }) => name === "lr" && step <= at).at(-1)?.value ?? start;
}

/**
 * The keys in force at the last of so many steps of a line; those it begins with before the first.
 * @param {Point[]} points
 * @param {number} taken
 * @param {{op: string, rule: string}} start
 */
export function inForce(points, taken, { op, rule }) {
  const last = (/** @type {string[]} */ ...names) =>
    points.filter(({ step, name }) => step < taken && names.includes(name)).at(-1)?.value;
  return { op: last("op") ?? op, rule: last("rule", rule) ?? rule };
}

/**
 * The lines of a run after so many steps, named by the rules that they went on with; ``onward`` is that rule.
 * @param {LegendEntry[]} lines
 * @param {Point[]} points
 * @param {number} taken
 * @returns {(LegendEntry & {onward: string})[]}
 */
export function goingOn(lines, points, taken) {
  return lines.map((line) => {
    const { rule } = inForce(points, taken, { op: "", rule: line.key });
    const onward = rule === line.key ? "" : labelOf("rule", rule);
    return { ...line, label: nameOf(line.label, line.key, rule), onward };
  });
}

/** @param {string} name of a curve @param {string} key of its rule @param {string} rule it goes on with */
function nameOf(name, key, rule) {
  return rule === key ? name : `${name} → ${labelOf("rule", rule)}`;
}

/** Whether points say the same, however their numbers are written. @param {Point[]} one @param {Point[]} other */
export function saysSame(one, other) {
  return JSON.stringify(plain(one)) === JSON.stringify(plain(other));
}

/** Points as they are compared. @param {Point[]} points */
export function plain(points) {
  return points.map(({ step, name, value }) => [step, name, name === "lr" ? Number(value) : value]);
}

/** A point in words, its step first. @param {Point} point */
export function pointText({ step, name, value }) {
  const what =
    name === "lr"
      ? `lr ${formatShort(Number(value))}`
      : name === "op"
        ? labelOf("op", value)
        : name === "rule"
          ? `all → ${labelOf("rule", value)}`
          : `${labelOf("rule", name)} → ${labelOf("rule", value)}`;
  return `${step}: ${what}`;
}

/** @param {"op"|"rule"} kind @param {string} key */
function labelOf(kind, key) {
  return findEntry(kind, key)?.label ?? key.replace("formula: ", "");
}

/**
 * The same series, each line dashed from its branch points on, in the colour of the rule it goes on with.
 * @param {Series[]} series
 * @param {Point[]} points
 * @param {LegendEntry[]} lines
 * @param {string} other the colour of a rule that is none of the lines
 * @returns {Series[]}
 */
export function branched(series, points, lines, other) {
  if (!points.length) return series;
  const drawn = series.map((curve) => partsOf(curve, points, lines, other));
  return [...drawn.flatMap(({ parts }) => parts), ...drawn.flatMap(({ marks }) => marks)];
}

/**
 * @param {Series} curve
 * @param {Point[]} points
 * @param {LegendEntry[]} lines
 * @param {string} other
 * @returns {{parts: Series[], marks: Series[]}}
 */
function partsOf(curve, points, lines, other) {
  const start = curve.rule ?? "";
  const own = points.filter(({ name }) => ["lr", "op", "rule", start].includes(name));
  const steps = [...new Set(own.map(({ step }) => step))].filter((step) => indexAt(curve, step) >= 0);
  const parts = [{ ...cutTo(curve, 0, steps.length ? indexAt(curve, steps[0]) : curve.x.length - 1) }];
  const marks = /** @type {Series[]} */ ([]);
  steps.forEach((step, index) => {
    const [from, to] = [indexAt(curve, step), steps[index + 1]];
    const { rule } = inForce(own, step + 1, { op: "", rule: start });
    const colour = rule === start ? curve.colour : (lines.find(({ key }) => key === rule)?.colour ?? other);
    const name = nameOf(curve.name, start, rule);
    const end = to === undefined ? curve.x.length - 1 : indexAt(curve, to);
    const part = cutTo({ ...curve, name, colour, dash: "dash", meta: undefined }, from, end);
    parts.push(part);
    if (Number.isFinite(curve.y[from]))
      marks.push({ ...cutTo(part, 0, 0), spread: undefined, symbol: "diamond-open" });
  });
  return {
    parts: parts.map((part, index) => ({ ...part, ends: curve.ends && index === parts.length - 1 })),
    marks: marks.map((mark) => ({ ...mark, ends: false })),
  };
}

/**
 * The index of the last value at a step or before, −1 where the curve is not yet there.
 * @param {Series} curve
 * @param {number} step
 */
function indexAt({ x }, step) {
  const isThere = x.length > 0 && x[x.length - 1] >= step;
  return isThere ? Array.from(x).findLastIndex((at) => at <= step) : -1;
}

/** @param {Series} curve @param {number} from @param {number} to the last one @returns {Series} */
function cutTo(curve, from, to) {
  const part = (/** @type {ArrayLike<number>} */ values) => Array.from(values).slice(from, to + 1);
  return {
    ...curve,
    x: part(curve.x),
    y: part(curve.y),
    ...(curve.spread && { spread: part(curve.spread) }),
  };
}
