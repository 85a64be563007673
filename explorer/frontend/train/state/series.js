// The arrays of an event, and the series of a chart that are made of them.

import { decodeArray } from "../../choice/arrays.js";

/** @import { Snapshot } from "./records.js" */
/** @typedef {ArrayLike<number>} Values */
/**
 * A line of a run in the legend: a rule with its colour.
 * @typedef {{key: string, label: string, colour: string}} LegendEntry
 */
/** A learned parameter. @typedef {{name: string, layers: number, first: number}} Learned */
/** A measure of the large chart. @typedef {"score"|"loss"|"norms"|"learned"} Measure */
/**
 * A series of a chart: ``label`` is its name where space is short; ``rule`` the key of its rule, ``meta`` as well
 * where it is the one curve of the rule; ``ends`` whether its name stands at its end; ``spread`` the standard
 * deviation over seeds; ``symbol`` that of its points, where they are marked.
 * @typedef {{name: string, label?: string, rule?: string, meta?: string, ends?: boolean, colour: string,
 *   x: Values, y: Values, spread?: Values, dash?: string, faint?: boolean, symbol?: string}} Series
 */
/**
 * The series of a run that are drawn after it as well.
 * @typedef {{loss_steps: Object<string, Values>, losses: Object<string, Values>, loss_sd: Object<string, Values>,
 *   score_steps: Values, scores: Object<string, Values>, score_sd: Object<string, Values>}} Drawn
 */

/** A snapshot with its arrays read. @param {*} value @returns {*} */
export function withArrays(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(withArrays);
  if ("bdata" in value) return decodeArray(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withArrays(part)]));
}

const DASHES = ["solid", "dot", "dash", "dashdot", "longdash"]; // by layer
const SMALL = "₁₂₃₄₅";

/**
 * The series of each measure.
 * @type {{[measure in Measure]: (snapshot: Snapshot, lines: LegendEntry[]) => Series[]}}
 */
const SERIES = {
  score: ({ score_steps: steps, scores, score_sd: spreads }, lines) =>
    lines.map((line) => curveOf(line, steps, scores, spreads)),
  loss: ({ loss_steps: steps, losses, loss_sd: spreads }, lines) =>
    lines.map((line) => curveOf(line, steps[line.key], losses, spreads)),
  norms: ({ loss_steps: steps, w1_norms: w1, w2_norms: w2 }, lines) =>
    lines.flatMap(({ key, label, colour }) => [
      { name: `${label}, w1`, rule: key, colour, x: steps[key], y: w1[key] },
      { name: `${label}, w2`, rule: key, colour, x: steps[key], y: w2[key], dash: "dot" },
    ]),
  learned: (snapshot, lines) =>
    lines.flatMap((line) => learnedOf(snapshot, line.key).flatMap((one) => layerCurves(snapshot, line, one))),
};

/**
 * The series of a measure; of an earlier run there are those of its score and its loss.
 * @param {Measure} measure
 * @param {Snapshot|Drawn} snapshot
 * @param {LegendEntry[]} lines
 */
export function seriesOf(measure, snapshot, lines) {
  return SERIES[measure](/** @type {Snapshot} */ (snapshot), lines);
}

/**
 * The curve of a rule with its band, which are given by rule.
 * @param {LegendEntry} line
 * @param {Values} x
 * @param {Object<string, Values>} values
 * @param {Object<string, Values>} spreads
 * @returns {Series}
 */
function curveOf({ key, label, colour }, x, values, spreads) {
  return { name: label, rule: key, meta: key, ends: true, colour, x, y: values[key], spread: spreads[key] };
}

/**
 * One curve for each layer of a parameter of a rule.
 * @param {Snapshot} snapshot
 * @param {LegendEntry} line
 * @param {Learned} parameter
 * @returns {Series[]}
 */
function layerCurves({ measured, measured_steps: x }, { key, label, colour }, { name, layers, first }) {
  const values = /** @type {Values[]} */ (measured.parameters?.[key]?.values ?? []);
  return values.slice(first, first + layers).map((y, layer) => ({
    name: `${name}${layers > 1 ? SMALL[layer] : ""}, ${label}`,
    ...{ rule: key, ends: true, colour, x, y, dash: DASHES[layer] },
  }));
}

/**
 * The parameters that a rule has of those that learn, with the index of their first column.
 * @param {Snapshot} snapshot
 * @param {string} rule
 * @returns {Learned[]}
 */
export function learnedOf({ learned = {}, seeds }, rule) {
  const names = [...new Set(Object.values(learned).flatMap((each) => Object.keys(each)))];
  return names.flatMap((name, index) => {
    const values = learned[rule]?.[name];
    const layers = values ? values.length / seeds : 0;
    return values ? [{ name, layers, first: index * layers }] : [];
  });
}

/**
 * The present values of a rule's parameters in one layer, means over the seeds that are finite.
 * @param {Snapshot} snapshot
 * @param {string} rule
 * @param {number} layer from 0
 * @returns {Object<string, number>}
 */
export function presentOf(snapshot, rule, layer) {
  return Object.fromEntries(
    learnedOf(snapshot, rule).flatMap(({ name, layers }) => {
      const at = Math.min(layer, layers - 1);
      const all = Array.from(snapshot.learned[rule][name]).filter((_, index) => index % layers === at);
      const finite = /** @type {number[]} */ (all).filter(Number.isFinite);
      return finite.length ? [[name, finite.reduce((sum, one) => sum + one, 0) / finite.length]] : [];
    }),
  );
}

/**
 * The least and the greatest value of a rule's parameter among the channels of a layer, means over the seeds; null
 * where a layer has one value.
 * @param {Snapshot} snapshot
 * @param {string} rule
 * @param {Learned} parameter
 * @param {number} layer from 0
 * @returns {[number, number]|null}
 */
export function channelsOf({ measured }, rule, { first }, layer) {
  const { least, most } = measured.parameters?.[rule] ?? {};
  const [low, high] = [least, most].map((each) => each?.[first + layer]);
  return low < high ? [low, high] : null;
}

/**
 * One curve a rule: its alignment in a layer with the gradient of the smoothed op. Each point is the mean of
 * so many of the last ones; with another σ it begins anew, and at rest its end is what is measured now.
 * @param {"cosines"|"agreements"} kind
 * @param {number} layer from 0
 * @param {Snapshot} snapshot
 * @param {LegendEntry[]} lines
 * @param {number} window
 * @returns {Series[]}
 */
export function alignmentSeries(kind, layer, snapshot, lines, window) {
  const { measured, measured_steps: steps, measured_sigmas: sigmas, sigma, step } = snapshot;
  const last = sigmas.length - 1;
  const isNew = Math.fround(sigma) !== sigmas[last];
  const now = kind === "cosines" ? "cosine" : "agreement";
  return lines.flatMap(({ key, label, colour }) => {
    const record = measured.alignment?.[key];
    if (!record) return [];
    const values = [...record[kind][layer], ...(isNew ? [record[now][layer]] : [])];
    const y = trailing(values, [...sigmas, ...(isNew ? [sigma] : [])], window);
    return [{ name: label, rule: key, ends: true, colour, x: [...steps, ...(isNew ? [step] : [])], y }];
  });
}

/**
 * The mean of each value and those before it, so many of them at most, that are of one kind; NaN stays NaN.
 * @param {number[]} values
 * @param {number[]} kinds
 * @param {number} window
 */
export function trailing(values, kinds, window) {
  return values.map((value, at) => {
    const near = values.slice(Math.max(at + 1 - window, 0), at + 1);
    const own = near.filter(
      (one, back) => Number.isFinite(one) && kinds[at + 1 - near.length + back] === kinds[at],
    );
    return Number.isFinite(value) ? own.reduce((sum, one) => sum + one, 0) / own.length : NaN;
  });
}

/**
 * The same curves, faint: those of an earlier run, named where they end elsewhere than the present ones.
 * @param {Series[]} series
 * @param {string|null} difference what that run has other than the present one, "" for the rules alone; null where it is
 *   the present run itself
 * @param {Series[]} present
 * @returns {Series[]}
 */
export function ghostsOf(series, difference, present) {
  const named = (/** @type {string[]} */ ...words) => [...words.filter(Boolean), "before"].join(", ");

  return series.map(({ rule, meta: _meta, ends, spread: _spread, ...curve }) => ({
    ...curve,
    name: difference === null ? curve.name : named(curve.name, difference),
    label: difference === null ? curve.name : named(difference || curve.name),
    ends:
      ends && difference !== null && !present.some((other) => other.rule === rule && passes(other, curve)),
    faint: true,
  }));
}

/** Whether a curve goes through the end of another. @param {Series} curve @param {Series} other */
function passes({ x, y }, other) {
  const end = endOf(other);
  return end !== null && Array.from(x).some((step, at) => step === end.x && y[at] === end.y);
}

/**
 * The outline of mean ± SD, back and forth; empty where there is but one seed.
 * @param {Series} series
 * @param {(value: number) => number} [held] what keeps a value on the axis
 * @returns {{x: Float64Array, y: Float64Array}}
 */
export function bandOf({ x, y, spread = [] }, held = (value) => value) {
  const known = [...Array(spread.length).keys()].filter(
    (i) => Number.isFinite(spread[i]) && Number.isFinite(y[i]),
  );
  const back = [...known].reverse();
  return {
    x: Float64Array.from([...known, ...back], (i) => x[i]),
    y: Float64Array.from([
      ...known.map((i) => held(y[i] + spread[i])),
      ...back.map((i) => held(y[i] - spread[i])),
    ]),
  };
}

/** The last point of a series with a value, and null where there is none. @param {Series} series */
export function endOf({ x, y }) {
  const at = Array.from(y).findLastIndex(Number.isFinite);
  return at < 0 ? null : { x: x[at], y: y[at] };
}

/** The ends of curves, in words. @param {Series[]} series */
export function endsText(series) {
  return series.map((each) => `${each.name}: ${endOf(each)?.y.toFixed(2) ?? "no gradient"}.`).join(" ");
}
