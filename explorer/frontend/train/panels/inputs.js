// The panel that shows a histogram of the op's inputs behind each backward rule's curve.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { capitalize, formatShare, formatShort } from "../../formula/numbers.js";
import { getCurrentValues } from "../state/series.js";
import { sampleRule } from "../state/small-curves.js";
import { makeBarPath, makeLinePath, share } from "../widgets/svg-paths.js";

/** @import { Bar, Point } from "../widgets/svg-paths.js" */
/** @import { PanelSpec, Observation } from "./panel.js" */
/**
 * A histogram with the curve of a backward rule, in fractions of the picture's size. ``ends`` is the range of x, and
 * ``most`` the maximum of the curve, or null without a curve.
 * @typedef {{words: string, note: string, ends: [number, number], bars: Bar[], curve: Point[], zero: number,
 *   most: number|null}} Picture
 */

const ROOF = 0.94; // height of the highest bar and of the curve, as a fraction of the chart's height
const MIN_SHARE = 0.03; // smaller fractions of the inputs outside the chart are not mentioned

/** @type {PanelSpec} */
export const panel = {
  order: 6,
  opens: true,
  layered: true,
  suits: () => true,
  rows: 7.5,
  picture: pictureOf,
  create,
  data: toCarriedData,
};

/** Return the op's inputs in a form that Explore can show behind its curves. @param {Observation} observation */
function toCarriedData({ measured: { edges, counts, means, beyond }, layer }) {
  const at = Math.min(layer, counts.length - 1);
  return {
    edges: Array.from(edges),
    counts: Array.from(counts[at]),
    means: Array.from(means[at]),
    note: describeOutside(beyond[at], [edges[0], edges[edges.length - 1]]),
  };
}

/** @param {Observation} observation @returns {Picture} */
function pictureOf({ measured, snapshot, line, layer, op, rule, parameters }) {
  const { edges, counts, beyond: outside, words } = measured;
  const at = Math.min(layer, counts.length - 1);
  const ends = /** @type {[number, number]} */ ([edges[0], edges[edges.length - 1]]);
  const note = [words[at], describeOutside(outside[at], ends)].filter(Boolean).join(" ");
  const points = sampleRule(
    op,
    rule,
    { ...parameters, ...getCurrentValues(snapshot, line.key, layer) },
    ends,
  );
  const finite = points.map(({ y }) => y).filter(Number.isFinite);
  const [least, most] = [Math.min(0, ...finite), Math.max(1, ...finite)];
  const toHeight = (/** @type {number} */ y) => ROOF * share(y, least, most);
  const toX = (/** @type {number} */ x) => share(x, ...ends);
  return {
    words: [
      words[at],
      `${formatShare(1 - outside[at])} of the data lie between ${ends.map(formatShort).join(" and ")}.`,
    ]
      .filter(Boolean)
      .join(" "),
    note,
    ends,
    bars: makeHistogramBars(counts[at], edges, toX),
    curve: points.map(({ x, y }) => ({ x: toX(x), y: toHeight(y) })),
    zero: toHeight(0),
    most: points.length ? most : null,
  };
}

/**
 * Describe which fraction of the inputs is outside the chart, or return "" if it is negligible.
 * @param {number} share
 * @param {[number, number]} ends
 */
function describeOutside(share, [start, stop]) {
  const [low, high] = [start, stop].map((end) => formatShort(end).replace("-", "−"));
  const ends = start === -stop ? `±${high}` : `${low} … ${high}`;
  return share >= MIN_SHARE ? capitalize(`${formatShare(share)} lie beyond ${ends}.`) : "";
}

/**
 * Convert a histogram to bars. The outermost bars include everything outside the chart and do not affect the scale.
 * @param {ArrayLike<number>} counts
 * @param {ArrayLike<number>} edges
 * @param {(x: number) => number} across
 * @returns {Bar[]}
 */
function makeHistogramBars(counts, edges, across) {
  const inner = Array.from(counts).slice(1, -1);
  const max = Math.max(...inner) || Math.max(...Array.from(counts), 1);
  return Array.from(counts, (count, bin) => ({
    from: across(edges[bin]),
    to: across(edges[bin + 1]),
    height: Math.min((ROOF * count) / max, 1),
  }));
}

/** @param {HTMLElement} cell */
function create(cell) {
  const [data, zero, curve] = ["data", "zero", "curve"].map((kind) => shape("path", { class: kind }));
  const svg = shape("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none" });
  svg.append(data, zero, curve);
  const maxLabel = element("span", { class: "most" });
  const ticks = ["", "", ""].map(() => element("span", {}));
  const note = element("p", { class: "note" });
  cell.append(
    element("div", { class: "frame" }, svg, maxLabel),
    element("div", { class: "axis" }, ...ticks),
    note,
  );
  return {
    /** @param {Picture} picture */
    draw({ bars, zero: nought, curve: points, most: top, ends: [start, stop], note: text }) {
      setAttribute(data, "d", bars.map(makeBarPath).join(""));
      setAttribute(zero, "d", makeLinePath([0, 1].map((x) => ({ x, y: nought }))));
      setAttribute(curve, "d", makeLinePath(points));
      setText(maxLabel, top === null ? "" : formatShort(top));
      [start, (start + stop) / 2, stop].forEach((x, index) =>
        setText(ticks[index], formatShort(x).replace("-", "−")),
      );
      setText(note, text);
    },
  };
}
