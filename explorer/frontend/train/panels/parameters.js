// The panel that plots each learned parameter and its gradient during training, with one curve per layer.

import { updateChildren, createChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { formatShort } from "../../formula/numbers.js";
import { getLearned } from "../state/series.js";
import { makeLinePath, share } from "../widgets/svg-paths.js";

/** @import { Point } from "../widgets/svg-paths.js" */
/** @import { PanelSpec, Observation } from "./panel.js" */
/**
 * A small chart with one line per layer, in fractions of the chart's size. ``ends`` are the minimum and the maximum,
 * and ``zero`` is the position of 0. One band per layer spans the values of its channels.
 * @typedef {{lines: Point[][], bands: Point[][], ends: [number, number], zero: number}} Lines
 * One parameter: its current values as text, and the lines of its values and gradients; null without gradients.
 * @typedef {{name: string, now: string, values: Lines, gradients: Lines|null}} ParameterPicture
 * @typedef {{words: string, drawn: ParameterPicture[]}} Picture
 */

const SERIES = ["values", "gradients", "leasts", "mosts"];

/** @type {PanelSpec} */
export const panel = {
  order: 3,
  opens: true,
  layered: false,
  suits: (_task, learns) => learns,
  rows: 8.5,
  picture: pictureOf,
  create,
  scrolls: true,
};

/** @param {Observation} observation @returns {Picture} */
function pictureOf({ measured, snapshot, line }) {
  const steps = Array.from(snapshot.measured_steps);
  const pictures = getLearned(snapshot, line.key).map(({ name, layers, first }) => {
    const [values, gradients, leasts, mosts] = SERIES.map((name) =>
      measured[name]
        .slice(first, first + layers)
        .map((/** @type {ArrayLike<number>} */ each) => [...Array.from(each)]),
    );
    const moves = gradients.some((/** @type {number[]} */ each) => each.some(Number.isFinite));
    return {
      name,
      now: [...values.keys()].map((at) => formatNow(values[at], leasts[at], mosts[at])).join(", "),
      values: makeSmallChart(steps, values, false, leasts, mosts),
      gradients: moves ? makeSmallChart(steps, gradients, true) : null,
    };
  });
  const words = pictures.map(({ name, now, gradients }) => `${name} ${gradients ? "is" : "stays at"} ${now}`);
  return { words: words.join("; "), drawn: pictures };
}

/**
 * Format the last value of a parameter in one layer, with its range over channels if they differ.
 * @param {...number[]} series the values, the minima and the maxima
 */
function formatNow(...series) {
  const [value, min, max] = series.map((each) => formatShort(each[each.length - 1]));
  return min === max ? value : `${value} (${min} to ${max})`;
}

/**
 * Convert the values of a parameter to the lines of a small chart.
 * @param {number[]} steps
 * @param {number[][]} series
 * @param {boolean} signed whether 0 must be visible
 * @param {number[][]} [leasts] the lower ends of bands, like series
 * @param {number[][]} [mosts] the upper ends
 * @returns {Lines}
 */
function makeSmallChart(steps, series, signed, leasts = [], mosts = []) {
  const finite = [...[series, leasts, mosts].flat(2).filter(Number.isFinite), ...(signed ? [0] : [])];
  const [min, max] = [Math.min(...finite), Math.max(...finite)];
  const margin = 0.06 * (max - min) || Math.abs(max) * 0.06 || 1;
  const ends = /** @type {[number, number]} */ ([min - margin, max + margin]);
  const last = steps[steps.length - 1] || 1;
  const pointsOf = (/** @type {number[]} */ each) =>
    each.map((y, at) => ({ x: steps[at] / last, y: share(y, ...ends) }));
  return {
    lines: series.map(pointsOf),
    bands: leasts.map((each, layer) => [...pointsOf(each), ...pointsOf(mosts[layer]).reverse()]),
    ends: [min, max],
    zero: share(0, ...ends),
  };
}

/** @param {HTMLElement} cell */
function create(cell) {
  const blocks = createChildren(cell, createBlock);
  return { draw: (/** @type {Picture} */ { drawn }) => blocks.show(drawn) };
}

/** Create the display of one parameter: a line of text and two small charts. */
function createBlock() {
  const name = element("code", {});
  const now = element("span", {});
  const note = element("p", { class: "note" }, "It does not learn by this rule.");
  const [values, gradients] = [createChart("value"), createChart("gradient")];
  return {
    element: element(
      "div",
      { class: "learned-one" },
      element("p", {}, name, now),
      values.element,
      gradients.element,
      note,
    ),
    /** @param {ParameterPicture} drawn */
    show({ name: text, now: present, values: above, gradients: below }) {
      setText(name, text);
      setText(now, ` = ${present.replaceAll("-", "−")}`);
      values.draw(above);
      setAttribute(gradients.element, "hidden", below === null);
      setAttribute(note, "hidden", below !== null);
      if (below) gradients.draw(below);
    },
  };
}

/** Draw a filled band, leaving out points that are not finite. @param {Element} area @param {Point[]} points */
function drawArea(area, points) {
  setAttribute(area, "d", makeLinePath(points.filter(({ y }) => Number.isFinite(y))));
}

/** @param {string} kind "value" or "gradient" */
function createChart(kind) {
  const svg = shape("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none" });
  const zero = shape("path", { class: "zero" });
  const [bands, curves] = [shape("g"), shape("g")];
  svg.append(bands, zero, curves);
  const [maxLabel, minLabel] = ["most", "least"].map((end) => element("span", { class: end }));
  return {
    element: element("div", { class: `frame of-${kind}` }, svg, maxLabel, minLabel),
    /** @param {Lines} lines */
    draw({ lines, bands: areas, ends: [low, high], zero: nought }) {
      updateChildren(bands, areas, () => shape("path", { class: "channels" }), drawArea);
      setAttribute(
        zero,
        "d",
        nought >= 0 && nought <= 1 ? makeLinePath([0, 1].map((x) => ({ x, y: nought }))) : "",
      );
      const make = (/** @type {number} */ layer) => shape("path", { class: `curve layer-${layer}` });
      updateChildren(curves, lines, make, (curve, line) => setAttribute(curve, "d", makeLinePath(line)));
      setText(maxLabel, `${kind === "gradient" ? "gradient " : ""}${formatShort(high).replace("-", "−")}`);
      setText(minLabel, formatShort(low).replace("-", "−"));
    },
  };
}
