// Curves as Plotly's traces: lines that break at jumps, and circles where they jump.

import { bandsOf, drawsOf, seeThrough } from "./drawn.js";
import { layerCurves } from "./layers.js";
import { toPartKey } from "../../formula/curves.js";
import { jumps } from "./jumps.js";
import { escaped } from "../plotly/plotly.js";

/** @import { Floats } from "./jumps.js" */
/**
 * ``marks``: 0 on the even grid, 1 a kink, 2 beside one. ``gradients`` by rule key, null where nobody has
 * them yet. ``parts``, of a parameter that learns, by rule key too, null where there is none. ``kinks`` by
 * rule key, for "forward" and for ``toPartKey`` of a rule; null where they are too many.
 * @typedef {{x: Floats, y: Floats, marks: ArrayLike<number>, gradients: Object<string, Floats|null>,
 *   parts?: Object<string, Floats|null>, kinks: Object<string, number[]|null>,
 *   drawn?: import("../../formula/stochastic.js").StochasticCurves}} Curves ``drawn``: what is beside the means of a pair that draws
 */
/**
 * A curve as it is drawn. ``gaps`` has a 1 where no line leads on from a point to the next; ``closed`` are
 * the points with the exact value at a jump, ``open`` those with its limits; one that lies ``under`` another
 * only shows where both coincide; one of a layer is ``over`` the others, with x of its own, and dashed unless it is
 * ``solid``; ``fill`` is a line around a band, ``dots`` are points alone. ``rule`` is the key of the rule it is of, "" for the op.
 * @typedef {{key: string, label: string, colour: string, rule: string, width: number, panel: import("./panels.js").PanelName, x: Floats,
 *   y: Floats, gaps: Uint8Array, closed: number[], open: number[], under?: boolean, over?: boolean, fill?: boolean, dots?: boolean, solid?: boolean}} Line
 */

const WIDTH = 2.5;
const EDGE = 2.5; // how far the broader of two curves that coincide stands out
const BROADEST = 7.5;
const DASH = "7px,5px";
const ROUNDING = 1e-6; // of a value: further apart two are not the same number in float32
const PLAIN = { type: "scatter", mode: "lines", connectgaps: false, hoverinfo: "skip" };
const AXES = { forward: "y", gradient: "y2", part: "y3" };
const CLOSED_SIZE = 8;
const OPEN_SIZE = 11; // stays visible around a filled one
const [DOT_SIZE, DOT_OPACITY] = [5, 0.7];
const BAND = 0.16; // of a colour

/**
 * The lines of a picture: the op, then each rule that is shown and has values, the parts of each, and a layer's.
 * @param {import("./picture.js").Picture} picture
 * @param {string} ink the colour of a layer's line that has none
 */
export function linesOf(picture, ink) {
  const { curves, op, rules, neutral } = picture;
  const visible = rules.filter((rule) => !rule.hidden && curves.gradients[rule.key]);
  const learning = rules.filter((rule) => !rule.hidden && curves.parts?.[rule.key]);
  const forward = line("forward", { key: "", label: op.label, colour: neutral }, "forward", curves, curves.y);
  const gradients = visible.map((rule) =>
    line(rule.key, rule, "gradient", curves, /** @type {Floats} */ (curves.gradients[rule.key])),
  );
  const parts = learning.map((rule) =>
    line(toPartKey(rule.key), rule, "part", curves, /** @type {Floats} */ (curves.parts?.[rule.key])),
  );
  const around = [...bandsOf(picture), ...drawsOf(picture, ink)];
  return [forward, ...gradients, ...parts, ...layerLines(picture, ink), ...around];
}

/**
 * The lines of the layer that is on, and those that lie over the chart beside it.
 * @param {import("./picture.js").Picture} picture
 * @param {string} ink
 * @returns {Line[]}
 */
function layerLines(picture, ink) {
  const { over = [] } = picture;
  const plain = { width: WIDTH - 0.5, closed: [], open: [], over: true };
  const linesBy = (/** @type {string} */ name, /** @type {import("./picture.js").LayerCurve[]} */ curves) =>
    curves.map(({ of: { key, label, colour }, panel, x, y, gaps }) => ({
      ...plain,
      ...{ key: `${name} ${key}`, label, colour: colour || ink, rule: key, panel, x, y },
      gaps: gaps ?? new Uint8Array(y.length),
    }));
  return [...linesBy(picture.layer ?? "", layerCurves(picture)), ...linesBy("over", over)];
}

/**
 * @param {string} key
 * @param {{key: string, label: string, colour: string}} of whose it is
 * @param {import("./panels.js").PanelName} panel
 * @param {Curves} curves
 * @param {Floats} y
 * @returns {Line}
 */
function line(key, { key: rule, label, colour }, panel, curves, y) {
  const { x, kinks } = curves;
  return { key, label, colour, rule, width: WIDTH, panel, x, y, ...jumps(curves, y, kinks[key] ?? []) };
}

/**
 * Lines with a broad one under each where it coincides with a later one, so that both are seen there.
 * @param {Line[]} lines
 */
export function underlaid(lines) {
  const shared = lines.map((line, index) => lines.slice(index + 1).map((later) => sharedGaps(line, later)));
  const over = shared.map((each) => each.filter((gaps) => gaps.includes(0)).length);
  const edge = Math.min(EDGE, (BROADEST - WIDTH) / Math.max(...over, 1));
  return lines.flatMap((line, index) => {
    if (!over[index]) return [line];
    const gaps = line.gaps.map((_, i) => Math.min(...shared[index].map((each) => each[i])));
    const y = line.y.map((value, i) => (gaps[i] && (i === 0 || gaps[i - 1]) ? NaN : value));
    const broad = { under: true, width: WIDTH + edge * over[index], y, gaps, closed: [], open: [] };
    return [{ ...line, ...broad, key: `under ${line.key}` }, line];
  });
}

/**
 * The gaps of a line that is drawn only where another one coincides with it from a point to the next.
 * @param {Line} one
 * @param {Line} other
 */
function sharedGaps(one, other) {
  const same = one.y.map((y, i) => Number(Math.abs(y - other.y[i]) <= ROUNDING * Math.abs(y)));
  return one.gaps.map((gap, i) => Number(gap || other.gaps[i] || !(same[i] && same[i + 1])));
}

/**
 * The traces of lines: first all lines, then their circles.
 * @param {Line[]} lines
 * @param {{key: string, label: string}[]} absent rules that are hidden or have no values: traces without
 *   points
 * @param {boolean} parted whether there is a panel of parts
 * @returns {*[]} as Plotly takes them
 */
export function tracesOf(lines, absent, parted) {
  const empty = absent.map(({ key, label }) => curve({ key, label, panel: "gradient" }));
  // Plotly draws no panel without a trace.
  if (parted && !lines.some(({ panel }) => panel === "part"))
    empty.push(curve({ key: "", label: "", panel: "part" }));
  const drawn = lines.map((one) => ({
    ...(one.under || one.over ? { ...PLAIN, yaxis: AXES[one.panel], showlegend: false } : curve(one)),
    ...withGaps(one),
    line: { color: one.colour, width: one.width, simplify: false, ...(isDashed(one) ? { dash: DASH } : {}) },
    ...(one.fill ? { fill: "toself", fillcolor: seeThrough(one.colour, BAND) } : {}),
  }));
  return [
    ...drawn,
    ...lines.filter(({ closed, open }) => closed.length + open.length).map(circles),
    ...empty.map((trace) => ({ ...trace, visible: false, x: [], y: [] })),
  ];
}

/** @param {Pick<Line, "key"|"label"|"panel">} line that of a part is no curve of its own in the legend */
function curve({ key, label, panel }) {
  const named = { name: escaped(label), yaxis: AXES[panel] };
  return { ...PLAIN, ...named, ...(panel === "part" ? { showlegend: false } : { meta: key }) };
}

/** The points of a line with a NaN after each jump; x ascends. @param {Line} line */
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

/** @param {Line} line */
const isDashed = ({ over, fill, dots, solid }) => over && !fill && !dots && !solid;

/** @param {Line} line */
function circles({ x, y, colour, panel, closed, open, dots }) {
  const at = [...open, ...closed]; // the last drawn lies on top
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
