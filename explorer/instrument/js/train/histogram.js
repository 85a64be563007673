// Where the data sits on a rule: its gradient above, the pre-activations of the net below, on one x.

import { createFigure } from "../chart/figure.js";
import { sampleCurves } from "../formula/curves.js";
import { shareText } from "../formula/numbers.js";

/**
 * A picture: the op, one rule as an entry with its colour,
 * and the histogram of a snapshot, null before there is one.
 * @typedef {{run: string|null, words: string, op: *, rule: *, colour: string,
 *   parameters: Object<string, number>, gradients: {edges: Float32Array, passed_counts: Int32Array,
 *   zero_counts: Int32Array}|null}} Picture
 */

const FIRST_REACH = 4; // of x, before there is data
const ZERO = "rgba(127, 133, 143, 0.75)";

/**
 * @param {HTMLElement} host of a fixed height
 * @param {{plotly: string}} options
 */
export function createHistogram(host, { plotly }) {
  let seen = { of: "", reach: FIRST_REACH, most: 0 };
  let curve = { key: "", x: /** @type {ArrayLike<number>} */ ([]), y: /** @type {ArrayLike<number>} */ ([]) };
  return createFigure(host, { plotly, hover: false, compose });

  /** @param {Picture} picture */
  function compose(picture) {
    const { gradients: bins, rule, words, run } = picture;
    const of = `${run} ${rule.key} ${bins !== null}`;
    if (seen.of !== of) seen = { of, reach: bins ? 0 : FIRST_REACH, most: 0 };
    if (bins) grow(bins);
    curve = curveOf(picture);
    const named = (/** @type {string} */ text) => ({ title: { text, standoff: 4 }, nticks: 5 });
    const below = bins ? { ...named("count"), range: [0, seen.most] } : { visible: false };
    const layout = {
      barmode: "stack",
      bargap: 0.06,
      xaxis: { ...named("pre-activation x"), range: [-seen.reach, seen.reach], anchor: "y", nticks: 7 },
      yaxis: { ...below, domain: [0, 0.5] },
      yaxis2: { ...named("gradient"), domain: [0.58, 0.92], anchor: "x", rangemode: "tozero" },
    };
    return { traces: [lineOf(picture), ...(bins ? bars(picture, bins) : [])], layout, caption: words };
  }

  /** Ranges in few, large steps: what moves is the data. @param {NonNullable<Picture["gradients"]>} bins */
  function grow({ edges, passed_counts: passed, zero_counts: zero }) {
    seen.reach = Math.max(
      seen.reach,
      roundUp(Math.max(Math.abs(edges[0]), Math.abs(edges[edges.length - 1]))),
    );
    seen.most = Math.max(seen.most, roundUp(Math.max(...passed.map((count, bin) => count + zero[bin]))));
  }

  /** @param {Picture} shown */
  function curveOf({ op, rule, parameters }) {
    const key = JSON.stringify([op.key, rule.key, parameters, seen.reach]);
    if (key === curve.key) return curve;
    const { x, gradients } = sampleCurves(
      { op, rules: [rule] },
      { start: -seen.reach, stop: seen.reach, g: 1, parameters },
    );
    return { key, x, y: gradients[rule.key] ?? [] };
  }

  /** @param {Picture} shown */
  function lineOf({ colour }) {
    return {
      x: curve.x,
      y: curve.y,
      yaxis: "y2",
      type: "scatter",
      mode: "lines",
      line: { color: colour, width: 2 },
    };
  }
}

/** @param {Picture} shown @param {NonNullable<Picture["gradients"]>} bins */
function bars({ colour }, { edges, passed_counts: passed, zero_counts: zero }) {
  const x = Array.from(passed, (_, bin) => (edges[bin] + edges[bin + 1]) / 2);
  const width = edges[1] - edges[0];
  const bar = (/** @type {Int32Array} */ y, /** @type {string} */ color) => ({
    type: "bar",
    x,
    y,
    width,
    marker: { color },
  });
  return [bar(zero, ZERO), bar(passed, colour)];
}

/**
 * Where the data sits, in words.
 * @param {string} label of the rule
 * @param {Picture["gradients"]} gradients
 * @param {boolean} begun whether there is a snapshot
 */
export function histogramWords(label, gradients, begun) {
  if (!gradients)
    return begun
      ? `${label}: the gradients are not finite`
      : "The pre-activations appear here with the first step";
  const sum = (/** @type {Int32Array} */ counts) => counts.reduce((all, one) => all + one, 0);
  const [zero, passed] = [sum(gradients.zero_counts), sum(gradients.passed_counts)];
  return `${label}: ${shareText(zero / (zero + passed))} of the pre-activations get gradient 0 in float32 (grey)`;
}

/** The next of 1, 1.5, 2, 3, 5, 7, 10 … times a power of ten. @param {number} value */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return power * ([1, 1.5, 2, 3, 5, 7, 10].find((factor) => factor * power >= value) ?? 10);
}
