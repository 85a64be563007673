// Curves as Plotly's traces: lines that are interrupted at jumps, and circles at the jumps.

import { makeSpreadBands, makeDrawLines, makeTranslucent } from "./stochastic.js";
import { getLayerCurves } from "./layers.js";
import { toContributionKey } from "../../formula/curves.js";
import { findJumps } from "./jumps.js";
import { escapeHtml } from "../plotly/plotly.js";

/** @import { Floats } from "./jumps.js" */
/**
 * Sampled curves. ``marks``: the kind of each x: 0 on the even grid, 1 at a kink, 2 next to one; ``gradients``: values
 * by rule key, null if not available yet; ``parts``: one element's contribution to a parameter's gradient, null if the
 * parameter cannot learn by the rule; ``kinks``: their x by "forward", rule key and ``toContributionKey``, null if too
 * many; ``drawn``: additions for stochastic ops and rules.
 * @typedef {{x: Floats, y: Floats, marks: ArrayLike<number>, gradients: Object<string, Floats|null>, parts?:
 *   Object<string, Floats|null>, kinks: Object<string, number[]|null>, drawn?:
 *   import("../../formula/stochastic.js").StochasticCurves}} Curves
 */
/**
 * A line of the chart. ``rule``: key of its rule, "" for the op; ``gaps``: 1 where a point is not joined to the next;
 * ``closed``, ``open``: indices of points with the value at a jump, and with its limits; ``under``: a broader line
 * behind another that coincides with it; ``over``: a further curve with its own x, dashed unless ``solid``; ``fill``:
 * the outline of a band; ``dots``: points without a line.
 * @typedef {{key: string, label: string, colour: string, rule: string, width: number, panel:
 *   import("./panels.js").PanelName, x: Floats, y: Floats, gaps: Uint8Array, closed: number[], open: number[], under?:
 *   boolean, over?: boolean, fill?: boolean, dots?: boolean, solid?: boolean}} Line
 */

const WIDTH = 2.5;
const EDGE = 2.5; // extra width of the lower of two equal curves
const MAX_WIDTH = 7.5;
const DASH = "7px,5px";
const ROUNDING = 1e-6; // relative difference below which values are equal in float32
const PLAIN = { type: "scatter", mode: "lines", connectgaps: false, hoverinfo: "skip" };
const AXES = { forward: "y", gradient: "y2", part: "y3" };
const CLOSED_SIZE = 8;
const OPEN_SIZE = 11; // in px; visible around a filled circle
const [DOT_SIZE, DOT_OPACITY] = [5, 0.7];
const BAND_OPACITY = 0.16; // of a standard deviation band

/**
 * Return every line of a chart: that of the op, those of the visible rules, and all further ones.
 * @param {import("./picture.js").Picture} picture
 * @param {string} ink the text colour, for further curves with the colour ""
 */
export function listLines(picture, ink) {
  const { curves, op, rules, neutral } = picture;
  const visible = rules.filter((rule) => !rule.hidden && curves.gradients[rule.key]);
  const learning = rules.filter((rule) => !rule.hidden && curves.parts?.[rule.key]);
  const forward = makeLine(
    "forward",
    { key: "", label: op.label, colour: neutral },
    "forward",
    curves,
    curves.y,
  );
  const gradients = visible.map((rule) =>
    makeLine(rule.key, rule, "gradient", curves, /** @type {Floats} */ (curves.gradients[rule.key])),
  );
  const parts = learning.map((rule) =>
    makeLine(
      toContributionKey(rule.key),
      rule,
      "part",
      curves,
      /** @type {Floats} */ (curves.parts?.[rule.key]),
    ),
  );
  const around = [...makeSpreadBands(picture), ...makeDrawLines(picture, ink)];
  return [forward, ...gradients, ...parts, ...listLayerLines(picture, ink), ...around];
}

/** @param {import("./picture.js").Picture} picture @param {string} ink the text colour @returns {Line[]} */
function listLayerLines(picture, ink) {
  const { over = [] } = picture;
  const plain = { width: WIDTH - 0.5, closed: [], open: [], over: true };
  const makeLines = (/** @type {string} */ name, /** @type {import("./picture.js").LayerCurve[]} */ curves) =>
    curves.map(({ of: { key, label, colour }, panel, x, y, gaps }) => ({
      ...plain,
      ...{ key: `${name} ${key}`, label, colour: colour || ink, rule: key, panel, x, y },
      gaps: gaps ?? new Uint8Array(y.length),
    }));
  return [...makeLines(picture.layer ?? "", getLayerCurves(picture)), ...makeLines("over", over)];
}

/**
 * @param {string} key @param {{key: string, label: string, colour: string}} of the rule, or the op with key ""
 * @param {import("./panels.js").PanelName} panel @param {Curves} curves @param {Floats} y @returns {Line}
 */
function makeLine(key, { key: rule, label, colour }, panel, curves, y) {
  const { x, kinks } = curves;
  return { key, label, colour, rule, width: WIDTH, panel, x, y, ...findJumps(curves, y, kinks[key] ?? []) };
}

/** Return lines with a broader one behind each that a later one covers, so that both show. @param {Line[]} lines */
export function addUnderlays(lines) {
  const shared = lines.map((line, index) =>
    lines.slice(index + 1).map((later) => findSharedGaps(line, later)),
  );
  const over = shared.map((each) => each.filter((gaps) => gaps.includes(0)).length);
  const edge = Math.min(EDGE, (MAX_WIDTH - WIDTH) / Math.max(...over, 1));
  return lines.flatMap((line, index) => {
    if (!over[index]) return [line];
    const gaps = line.gaps.map((_, i) => Math.min(...shared[index].map((each) => each[i])));
    const y = line.y.map((value, i) => (gaps[i] && (i === 0 || gaps[i - 1]) ? NaN : value));
    const broad = { under: true, width: WIDTH + edge * over[index], y, gaps, closed: [], open: [] };
    return [{ ...line, ...broad, key: `under ${line.key}` }, line];
  });
}

/** Return the gaps of a line that exists only where two lines coincide. @param {Line} one @param {Line} other */
function findSharedGaps(one, other) {
  const isSame = one.y.map((y, i) => Number(Math.abs(y - other.y[i]) <= ROUNDING * Math.abs(y)));
  return one.gaps.map((gap, i) => Number(gap || other.gaps[i] || !(isSame[i] && isSame[i + 1])));
}

/**
 * Convert lines to Plotly's traces: first all lines, then the circles at jumps.
 * @param {Line[]} lines
 * @param {{key: string, label: string}[]} absent hidden rules and rules without values, which become empty traces
 * @param {boolean} hasParts whether there is a panel of a parameter's gradient @returns {*[]}
 */
export function toTraces(lines, absent, hasParts) {
  const empty = absent.map(({ key, label }) => makeTrace({ key, label, panel: "gradient" }));
  // Plotly leaves out a panel without a trace.
  if (hasParts && !lines.some(({ panel }) => panel === "part"))
    empty.push(makeTrace({ key: "", label: "", panel: "part" }));
  const lineTraces = lines.map((one) => ({
    ...(one.under || one.over ? { ...PLAIN, yaxis: AXES[one.panel], showlegend: false } : makeTrace(one)),
    ...withGaps(one),
    line: { color: one.colour, width: one.width, simplify: false, ...(getDash(one) && { dash: DASH }) },
    ...(one.fill ? { fill: "toself", fillcolor: makeTranslucent(one.colour, BAND_OPACITY) } : {}),
  }));
  return [
    ...lineTraces,
    ...lines.filter(({ closed, open }) => closed.length + open.length).map(makeCircles),
    ...empty.map((trace) => ({ ...trace, visible: false, x: [], y: [] })),
  ];
}

/** @param {Pick<Line, "key"|"label"|"panel">} line */
function makeTrace({ key, label, panel }) {
  const named = { name: escapeHtml(label), yaxis: AXES[panel] };
  return { ...PLAIN, ...named, ...(panel === "part" ? { showlegend: false } : { meta: key }) };
}

/** Return the points of a line with NaN after each jump, so that Plotly interrupts the line. @param {Line} line */
function withGaps({ x, y, gaps }) {
  const count = gaps.reduce((sum, gap) => sum + gap, 0);
  if (!count) return { x, y };
  const Kind = /** @type {Float64ArrayConstructor} */ (x.constructor);
  const [xs, ys] = [new Kind(x.length + count), new Kind(x.length + count)];
  for (let i = 0, to = 0; i < x.length; i += 1, to += 1) {
    xs[to] = x[i];
    ys[to] = y[i];
    if (!gaps[i]) continue;
    to += 1;
    xs[to] = x[i];
    ys[to] = NaN;
  }
  return { x: xs, y: ys };
}

/** Return the dashes of a line, or "" if it is solid. @param {Line} line */
export const getDash = ({ over, fill, dots, solid }) => (over && !fill && !dots && !solid ? DASH : "");

/** @param {Line} line */
function makeCircles({ x, y, colour, panel, closed, open, dots }) {
  const at = [...open, ...closed]; // filled circles come last, because later points are drawn on top
  const filled = at.map((_, index) => index >= open.length);
  return {
    type: "scatter",
    mode: "markers",
    x: at.map((i) => x[i]),
    y: at.map((i) => y[i]),
    yaxis: AXES[panel],
    showlegend: false,
    hoverinfo: "skip",
    cliponaxis: Boolean(dots),
    marker: {
      size: dots ? DOT_SIZE : filled.map((fill) => (fill ? CLOSED_SIZE : OPEN_SIZE)),
      symbol: filled.map((fill) => (fill ? "circle" : "circle-open")),
      color: colour,
      line: { color: colour, width: dots ? 0 : 2 },
      opacity: dots ? DOT_OPACITY : 1,
    },
  };
}
