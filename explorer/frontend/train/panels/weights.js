// The panel that shows a histogram of full-precision weights, shaded by their quantised values.

import { updateChildren, createChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { formatShare, formatShort } from "../../formula/numbers.js";

/** @import { PanelSpec, Observation } from "./panel.js" */
/** A bar in fractions of the picture. @typedef {{x: number, width: number, y: number, height: number}} Bar */
/**
 * The histogram of one layer's weights: a part for each output of the op, with bars stacked on those of lower outputs.
 * ``ends`` is the range of x.
 * @typedef {{note: string, ends: [string, string], parts: Bar[][]}} Layer
 * @typedef {{words: string, layers: Layer[]}} Picture
 */

const ROOF = 0.95; // height of the highest bar, as a fraction of the chart's height

/** @type {PanelSpec} */
export const panel = {
  order: 4,
  opens: true,
  layered: false,
  suits: ({ site }) => !site.per_example,
  rows: 13,
  picture: pictureOf,
  create,
};

/** @param {Observation} observation @returns {Picture} */
export function pictureOf({ measured: { layers, words } }) {
  return { words, layers: layers.map(buildLayerHistogram) };
}

/**
 * Build the histogram of one layer's weights.
 * @param {{edges: Float32Array, counts: Int32Array, values: Float32Array, by_value: Int32Array,
 *   changed: number}} measured
 * @param {number} index
 * @returns {Layer}
 */
function buildLayerHistogram({ edges, counts, values, by_value: byValue, changed }, index) {
  const bins = counts.length;
  const ends = /** @type {[string, string]} */ ([edges[0], edges[bins]].map(formatNumber));
  const partCounts = Array.from(values, (_, part) => byValue.subarray(part * bins, (part + 1) * bins));
  const shares = partCounts.map(
    (own, part) => `${formatNumber(values[part])}: ${formatShare(sum(own) / sum(counts))}`,
  );
  const note = [`Layer ${index + 1}: ${formatShare(changed)} changed`, ...shares].join(" · ");
  return { note, ends, parts: stackBars(partCounts.length ? partCounts : [counts], Math.max(...counts, 1)) };
}

/**
 * Stack the bars of several histograms on one another.
 * @param {Int32Array[]} parts counts of each part
 * @param {number} most the count of a bar that fills the height
 * @returns {Bar[][]}
 */
function stackBars(parts, most) {
  const below = new Array(parts[0].length).fill(0);
  return parts.map((own) =>
    Array.from(own, (count, bin) => {
      const height = (ROOF * count) / most;
      below[bin] += height;
      return { x: bin / own.length, width: 1 / own.length, y: below[bin], height };
    }).filter(({ height }) => height > 0),
  );
}

/** @param {Int32Array} counts */
function sum(counts) {
  return counts.reduce((total, count) => total + count, 0);
}

/** @param {number} value */
function formatNumber(value) {
  return formatShort(value).replace("-", "−");
}

/** @param {HTMLElement} cell */
function create(cell) {
  const blocks = createChildren(cell, createBlock);
  return { draw: (/** @type {Picture} */ { layers }) => blocks.show(layers) };
}

/** Create the drawing of one layer's histogram. */
function createBlock() {
  const svg = shape("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", class: "latent" });
  const ticks = ["", ""].map(() => element("span", {}));
  const note = element("p", { class: "note" });
  const axis = element("div", { class: "axis" }, ...ticks);
  return {
    element: element("div", { class: "of-layer" }, element("div", { class: "frame" }, svg), axis, note),
    /** @param {Layer} layer */
    show({ parts, ends, note: text }) {
      updateChildren(
        svg,
        parts,
        () => shape("path"),
        (path, bars, part) => {
          setAttribute(path, "d", bars.map(makeBarPath).join(""));
          setAttribute(path, "opacity", String(getPartOpacity(part, parts.length)));
        },
      );
      ends.forEach((end, at) => setText(ticks[at], end));
      setText(note, text);
    },
  };
}

/** Return the opacity of the bars of one quantised value. @param {number} part @param {number} count */
function getPartOpacity(part, count) {
  return count === 1 ? 1 : 0.3 + (0.7 * part) / (count - 1);
}

/** @param {Bar} bar */
function makeBarPath({ x, width, y, height }) {
  return `M${x} ${1 - y}h${0.9 * width}v${height}h${-0.9 * width}Z`;
}
