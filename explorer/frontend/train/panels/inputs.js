// The inputs of the op as a histogram, behind the rule's curve.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { capitalize, formatShare, formatShort } from "../../formula/numbers.js";
import { getCurrentValues } from "../state/series.js";
import { sampleRule } from "../state/small-curves.js";
import { barPath, linePath, share } from "../widgets/svg-paths.js";

/** @import { Bar, Point } from "../widgets/svg-paths.js" */
/** @import { Declared, Observation } from "./panel.js" */
/**
 * A small picture: bars and the curve's points, as shares of it; ``ends`` of x, ``most`` of the curve,
 * null without one.
 * @typedef {{words: string, note: string, ends: [number, number], bars: Bar[], curve: Point[], zero: number,
 *   most: number|null}} Picture
 */

const ROOF = 0.94; // of the height, for what is highest
const MUCH = 0.03; // of the data, to be mentioned

/** @type {Declared} */
export const panel = {
  order: 6,
  opens: true,
  layered: true,
  suits: () => true,
  rows: 7.5,
  picture: pictureOf,
  create,
  data: dataOf,
};

/** The data that are carried to Explore. @param {Observation} observation */
function dataOf({ measured: { edges, counts, means, beyond }, layer }) {
  const at = Math.min(layer, counts.length - 1);
  return {
    edges: Array.from(edges),
    counts: Array.from(counts[at]),
    means: Array.from(means[at]),
    note: beyondText(beyond[at], [edges[0], edges[edges.length - 1]]),
  };
}

/** @param {Observation} observation @returns {Picture} */
function pictureOf({ measured, snapshot, line, layer, op, rule, parameters }) {
  const { edges, counts, beyond, words } = measured;
  const at = Math.min(layer, counts.length - 1);
  const ends = /** @type {[number, number]} */ ([edges[0], edges[edges.length - 1]]);
  const note = [words[at], beyondText(beyond[at], ends)].filter(Boolean).join(" ");
  const points = sampleRule(
    op,
    rule,
    { ...parameters, ...getCurrentValues(snapshot, line.key, layer) },
    ends,
  );
  const finite = points.map(({ y }) => y).filter(Number.isFinite);
  const [least, most] = [Math.min(0, ...finite), Math.max(1, ...finite)];
  const level = (/** @type {number} */ y) => ROOF * share(y, least, most);
  const across = (/** @type {number} */ x) => share(x, ...ends);
  return {
    words: [
      words[at],
      `${formatShare(1 - beyond[at])} of the data lie between ${ends.map(formatShort).join(" and ")}.`,
    ]
      .filter(Boolean)
      .join(" "),
    note,
    ends,
    bars: barsOf(counts[at], edges, across),
    curve: points.map(({ x, y }) => ({ x: across(x), y: level(y) })),
    zero: level(0),
    most: points.length ? most : null,
  };
}

/** The share beyond the ends, where it is large. @param {number} share @param {[number, number]} ends */
function beyondText(share, [start, stop]) {
  const [low, high] = [start, stop].map((end) => formatShort(end).replace("-", "−"));
  const ends = start === -stop ? `±${high}` : `${low} … ${high}`;
  return share >= MUCH ? capitalize(`${formatShare(share)} lie beyond ${ends}.`) : "";
}

/**
 * The outermost bars hold what lies beyond: the highest of the others gives the scale.
 * @param {ArrayLike<number>} counts
 * @param {ArrayLike<number>} edges
 * @param {(x: number) => number} across
 * @returns {Bar[]}
 */
function barsOf(counts, edges, across) {
  const inner = Array.from(counts).slice(1, -1);
  const most = Math.max(...inner) || Math.max(...Array.from(counts), 1);
  return Array.from(counts, (count, bin) => ({
    from: across(edges[bin]),
    to: across(edges[bin + 1]),
    height: Math.min((ROOF * count) / most, 1),
  }));
}

/** @param {HTMLElement} cell */
function create(cell) {
  const [data, zero, curve] = ["data", "zero", "curve"].map((kind) => shape("path", { class: kind }));
  const svg = shape("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none" });
  svg.append(data, zero, curve);
  const most = element("span", { class: "most" });
  const ticks = ["", "", ""].map(() => element("span", {}));
  const note = element("p", { class: "note" });
  cell.append(
    element("div", { class: "frame" }, svg, most),
    element("div", { class: "axis" }, ...ticks),
    note,
  );
  return {
    /** @param {Picture} picture */
    draw({ bars, zero: nought, curve: points, most: top, ends: [start, stop], note: text }) {
      setAttribute(data, "d", bars.map(barPath).join(""));
      setAttribute(zero, "d", linePath([0, 1].map((x) => ({ x, y: nought }))));
      setAttribute(curve, "d", linePath(points));
      setText(most, top === null ? "" : formatShort(top));
      [start, (start + stop) / 2, stop].forEach((x, index) =>
        setText(ticks[index], formatShort(x).replace("-", "−")),
      );
      setText(note, text);
    },
  };
}
