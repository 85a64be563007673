// The server's arrays decoded, and as curves of charts.

import { decodeArray } from "../../choice/arrays.js";
import { getEntries } from "../../choice/choice.js";

/** @import { Snapshot } from "./records.js" */
/** The values of a curve. @typedef {ArrayLike<number>} Values */
/**
 * A curve's entry in the legend: a rule with its colour.
 * @typedef {{key: string, label: string, colour: string}} LegendEntry
 */
/**
 * A parameter that a rule has learned, with the number of layers that have their own value.
 * @typedef {{name: string, layers: number}} LearnedParameter
 */
/**
 * What the main chart plots: held-out score, loss, gradient norms, or learned parameters.
 * @typedef {"score"|"loss"|"norms"|"learned"} Measure
 */
/**
 * A curve of a chart. ``rule``: the rule's key; ``meta``: the same key if the rule has no other curve; ``ends``: whether
 * it has a label; ``low``, ``high``: its band over seeds; ``symbol``: draws points instead of a line.
 * @typedef {{name: string, rule?: string, meta?: string, ends?: boolean, colour: string, x: Values, y:
 *   Values, low?: Values, high?: Values, dash?: string, faint?: boolean, symbol?: string}} Series
 */

/** Return a message from the server with all arrays decoded. @param {*} value any JSON data @returns {*} */
export function decodeArrays(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(decodeArrays);
  if ("bdata" in value) return decodeArray(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decodeArrays(part)]));
}

/**
 * Return the legend: labels and colours of the rules.
 * @param {import("../../choice/choice.js").Choice} choice @param {string[]} colours @returns {LegendEntry[]}
 */
export function makeLegend(choice, colours) {
  const { rules: entries } = getEntries(choice);
  return choice.rules.map(({ key, slot }, index) => ({
    key,
    label: entries[index].label,
    colour: colours[slot % colours.length],
  }));
}

const DASHES = ["solid", "dot", "dash", "dashdot", "longdash"]; // line styles, one per layer
const SUBSCRIPTS = "₁₂₃₄₅";

/**
 * Functions by measure. Each returns the curves of a run.
 * @type {{[measure in Measure]: (snapshot: Snapshot, lines: LegendEntry[]) => Series[]}}
 */
const SERIES = {
  score: ({ score_steps: x, scores, score_sd: deviations = {} }, lines) =>
    lines.map(({ key, ...line }) => {
      const y = scores[key];
      const addDeviation = (/** @type {number} */ times) =>
        deviations[key] && Array.from(y, (value, at) => value + times * deviations[key][at]);
      return buildRuleCurve({ key, ...line }, { x, y, low: addDeviation(-1), high: addDeviation(1) });
    }),
  loss: ({ loss_steps: steps, losses, loss_low: lows = {}, loss_high: highs = {} }, lines) =>
    lines.map((line) => {
      const [x, y, low, high] = [steps, losses, lows, highs].map((all) => all[line.key]);
      return buildRuleCurve(line, { x, y, low, high });
    }),
  norms: ({ loss_steps: steps, w1_norms: w1, w2_norms: w2 }, lines) =>
    lines.flatMap(({ key, label, colour }) => [
      { name: `${label}, w1`, rule: key, colour, x: steps[key], y: w1[key] },
      { name: `${label}, w2`, rule: key, colour, x: steps[key], y: w2[key], dash: "dot" },
    ]),
  learned: (snapshot, lines) =>
    lines.flatMap((line) =>
      getLearned(snapshot, line.key).flatMap((one) => makeLayerCurves(snapshot, line, one)),
    ),
};

/** Return the curves of a run. @param {Measure} measure @param {Snapshot} snapshot @param {LegendEntry[]} lines */
export function buildSeries(measure, snapshot, lines) {
  return SERIES[measure](snapshot, lines);
}

/** @param {LegendEntry} line @param {Pick<Series, "x"|"y"|"low"|"high">} values @returns {Series} */
function buildRuleCurve({ key, label, colour }, values) {
  return { name: label, rule: key, meta: key, ends: true, colour, ...values };
}

/**
 * Return the curves of a learned parameter, one for each layer.
 * @param {Snapshot} snapshot @param {LegendEntry} line @param {LearnedParameter} parameter @returns {Series[]}
 */
function makeLayerCurves(snapshot, { key, label, colour }, { name, layers }) {
  const x = snapshot.measured_steps;
  return findLines(snapshot, key, name).lines.map((/** @type {Values} */ y, /** @type {number} */ layer) => ({
    name: `${name}${layers > 1 ? SUBSCRIPTS[layer] : ""}, ${label}`,
    ...{ rule: key, ends: true, colour, x, y, dash: DASHES[layer] },
  }));
}

/** @param {Snapshot} snapshot @param {string} rule @param {string} name */
function findLines({ measured }, rule, name) {
  const picture = measured.parameters?.[rule]?.[0];
  const group = picture?.blocks.find((/** @type {*} */ block) => block.name === name);
  return group?.blocks[0] ?? { lines: [], bands: [] };
}

/**
 * Return the parameters that a rule learns.
 * @param {Snapshot} snapshot @param {string} rule @returns {LearnedParameter[]}
 */
export function getLearned({ learned = {}, seeds }, rule) {
  return Object.entries(learned[rule] ?? {}).map(([name, values]) => ({
    name,
    layers: values.length / seeds,
  }));
}

/**
 * Return the current values of a rule's learned parameters in one layer, by name: means over the seeds with a finite
 * value. Parameters without such a seed are left out.
 * @param {Snapshot} snapshot @param {string} rule @param {number} layer index @returns {Object<string, number>}
 */
export function getCurrentValues(snapshot, rule, layer) {
  return Object.fromEntries(
    getLearned(snapshot, rule).flatMap(({ name, layers }) => {
      const at = Math.min(layer, layers - 1);
      const all = Array.from(snapshot.learned[rule][name]).filter((_, index) => index % layers === at);
      const finite = /** @type {number[]} */ (all).filter(Number.isFinite);
      return finite.length ? [[name, finite.reduce((sum, one) => sum + one, 0) / finite.length]] : [];
    }),
  );
}

/**
 * Return the minimum and maximum of a learned parameter over the channels of a layer, as means over seeds.
 * @param {Snapshot} snapshot @param {string} rule @param {string} name @param {number} layer index
 * @returns {[number, number]|null} null if the layer has a single value
 */
export function getChannelRange(snapshot, rule, name, layer) {
  const [low, high] = (findLines(snapshot, rule, name).bands[layer] ?? []).map(
    (/** @type {Values} */ each) => each[each.length - 1],
  );
  return low < high ? [low, high] : null;
}

/**
 * Return one curve for each rule: how well its gradient in one layer aligns with that of the net smoothed by noise. A
 * point averages those of the last ``window`` measurements that have its σ. After a change of σ, the curve ends with
 * the present measurement.
 * @param {"cosines"|"agreements"} kind @param {number} layer index @param {Snapshot} snapshot
 * @param {LegendEntry[]} lines @param {number} window @returns {Series[]}
 */
export function makeAlignmentSeries(kind, layer, snapshot, lines, window) {
  const { measured, measured_steps: steps, measured_sigmas: sigmas, sigma, step } = snapshot;
  const last = sigmas.length - 1;
  const isNew = Math.fround(sigma) !== sigmas[last];
  const now = kind === "cosines" ? "cosine" : "agreement";
  return lines.flatMap(({ key, label, colour }) => {
    const record = measured.alignment?.[key];
    if (!record) return [];
    const values = [...record[kind][layer], ...(isNew ? [record[now][layer]] : [])];
    const y = averageTrailing(values, [...sigmas, ...(isNew ? [sigma] : [])], window);
    return [{ name: label, rule: key, ends: true, colour, x: [...steps, ...(isNew ? [step] : [])], y }];
  });
}

/**
 * Return trailing means: each averages the finite values of its kind among the last ``window``. NaN remains NaN.
 * @param {number[]} values @param {number[]} kinds the kind of each value, such as its σ @param {number} window
 */
export function averageTrailing(values, kinds, window) {
  return values.map((value, at) => {
    const near = values.slice(Math.max(at + 1 - window, 0), at + 1);
    const alike = near.filter(
      (one, back) => Number.isFinite(one) && kinds[at + 1 - near.length + back] === kinds[at],
    );
    return Number.isFinite(value) ? alike.reduce((sum, one) => sum + one, 0) / alike.length : NaN;
  });
}

/** Return a faint copy of a curve, as of steps after the displayed one. @param {Series} series @returns {Series} */
export function makeFaint({ rule: _rule, meta: _meta, low: _low, high: _high, ...curve }) {
  return { ...curve, ends: false, faint: true };
}

/**
 * Return faint dotted copies of the curves of an earlier run. Those of rules with a lane have no label at their end.
 * @param {Series[]} series @param {string[]} rules keys of the rules with lanes @returns {Series[]}
 */
export function makeEarlierCurves(series, rules) {
  return series.map((curve) => {
    const ends = curve.ends && !rules.includes(curve.rule ?? "");
    return { ...makeFaint(curve), name: `${curve.name}, before`, ends, dash: "dot" };
  });
}

/**
 * Return the outline of a curve's band over seeds as a closed path. It is empty without a band.
 * @param {Series} series @param {(value: number) => number} [clamp] limits a value to the axis
 * @returns {{x: Float64Array, y: Float64Array}}
 */
export function traceBand({ x, low = [], high = [] }, clamp = (value) => value) {
  const finite = [...Array(low.length).keys()].filter((i) => Number.isFinite(low[i]));
  const back = [...finite].reverse();
  return {
    x: Float64Array.from([...finite, ...back], (i) => x[i]),
    y: Float64Array.from([...finite.map((i) => clamp(high[i])), ...back.map((i) => clamp(low[i]))]),
  };
}

/** Return the last finite point of a curve, or null. @param {Series} series */
export function findLastPoint({ x, y }) {
  let at = y.length - 1;
  while (at >= 0 && !Number.isFinite(y[at])) at -= 1;
  return at < 0 ? null : { x: x[at], y: y[at] };
}

/** Describe the last value of each curve in a sentence. @param {Series[]} series */
export function describeEnds(series) {
  return series
    .map((each) => `${each.name}: ${findLastPoint(each)?.y.toFixed(2) ?? "no gradient"}.`)
    .join(" ");
}
