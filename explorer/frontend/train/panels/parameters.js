// Parameters of the op that learn: each one's value over the steps, layer by layer, and its gradient.

import { counted, keyed } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { formatShort } from "../../formula/numbers.js";
import { getLearned } from "../state/series.js";
import { linePath, share } from "../widgets/svg-paths.js";

/** @import { Point } from "../widgets/svg-paths.js" */
/** @import { Declared, Observation } from "./panel.js" */
/**
 * A small chart: a line for each layer, as shares of it, between its ``ends``; ``zero`` is where 0 lies. A band
 * for each layer goes from the least to the greatest value of its channels, which may be one.
 * @typedef {{lines: Point[][], bands: Point[][], ends: [number, number], zero: number}} Lines
 * One parameter: its values now as text, what is drawn of them and of their gradients, which may be none.
 * @typedef {{name: string, now: string, values: Lines, gradients: Lines|null}} Drawn
 * @typedef {{words: string, drawn: Drawn[]}} Picture
 */

const SERIES = ["values", "gradients", "leasts", "mosts"];

/** @type {Declared} */
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
  const drawn = getLearned(snapshot, line.key).map(({ name, layers, first }) => {
    const [values, gradients, leasts, mosts] = SERIES.map((name) =>
      measured[name]
        .slice(first, first + layers)
        .map((/** @type {ArrayLike<number>} */ each) => [...Array.from(each)]),
    );
    const moves = gradients.some((/** @type {number[]} */ each) => each.some(Number.isFinite));
    return {
      name,
      now: [...values.keys()].map((at) => nowOf(values[at], leasts[at], mosts[at])).join(", "),
      values: linesOf(steps, values, false, leasts, mosts),
      gradients: moves ? linesOf(steps, gradients, true) : null,
    };
  });
  const words = drawn.map(({ name, now, gradients }) => `${name} ${gradients ? "is" : "stays at"} ${now}`);
  return { words: words.join("; "), drawn };
}

/**
 * The present value of a layer, with the ends of its channels' values where they differ.
 * @param {...number[]} series the value, the least and the greatest
 */
function nowOf(...series) {
  const [value, least, most] = series.map((each) => formatShort(each[each.length - 1]));
  return least === most ? value : `${value} (${least} to ${most})`;
}

/**
 * @param {number[]} steps
 * @param {number[][]} series
 * @param {boolean} signed whether 0 is to be visible
 * @param {number[][]} [leasts] the lower ends of bands, like series
 * @param {number[][]} [mosts]
 * @returns {Lines}
 */
function linesOf(steps, series, signed, leasts = [], mosts = []) {
  const finite = [...[series, leasts, mosts].flat(2).filter(Number.isFinite), ...(signed ? [0] : [])];
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  const margin = 0.06 * (most - least) || Math.abs(most) * 0.06 || 1;
  const ends = /** @type {[number, number]} */ ([least - margin, most + margin]);
  const last = steps[steps.length - 1] || 1;
  const pointsOf = (/** @type {number[]} */ each) =>
    each.map((y, at) => ({ x: steps[at] / last, y: share(y, ...ends) }));
  return {
    lines: series.map(pointsOf),
    bands: leasts.map((each, layer) => [...pointsOf(each), ...pointsOf(mosts[layer]).reverse()]),
    ends: [least, most],
    zero: share(0, ...ends),
  };
}

/** @param {HTMLElement} cell */
function create(cell) {
  const blocks = keyed(cell, createBlock);
  return { draw: (/** @type {Picture} */ { drawn }) => blocks.show(drawn) };
}

/** One parameter: a line of text and two charts. */
function createBlock() {
  const name = element("code", {});
  const now = element("span", {});
  const still = element("p", { class: "note" }, "It does not learn by this rule.");
  const [values, gradients] = [chart("value"), chart("gradient")];
  return {
    element: element(
      "div",
      { class: "learned-one" },
      element("p", {}, name, now),
      values.element,
      gradients.element,
      still,
    ),
    /** @param {Drawn} drawn */
    show({ name: text, now: present, values: above, gradients: below }) {
      setText(name, text);
      setText(now, ` = ${present.replaceAll("-", "−")}`);
      values.draw(above);
      setAttribute(gradients.element, "hidden", below === null);
      setAttribute(still, "hidden", below !== null);
      if (below) gradients.draw(below);
    },
  };
}

/** @param {Element} area @param {Point[]} points */
function drawArea(area, points) {
  setAttribute(area, "d", linePath(points.filter(({ y }) => Number.isFinite(y))));
}

/** @param {string} kind "value" or "gradient" */
function chart(kind) {
  const svg = shape("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none" });
  const zero = shape("path", { class: "zero" });
  const [bands, curves] = [shape("g"), shape("g")];
  svg.append(bands, zero, curves);
  const [most, least] = ["most", "least"].map((end) => element("span", { class: end }));
  return {
    element: element("div", { class: `frame of-${kind}` }, svg, most, least),
    /** @param {Lines} lines */
    draw({ lines, bands: areas, ends: [low, high], zero: nought }) {
      counted(bands, areas, () => shape("path", { class: "channels" }), drawArea);
      setAttribute(
        zero,
        "d",
        nought >= 0 && nought <= 1 ? linePath([0, 1].map((x) => ({ x, y: nought }))) : "",
      );
      const make = (/** @type {number} */ layer) => shape("path", { class: `curve layer-${layer}` });
      counted(curves, lines, make, (curve, line) => setAttribute(curve, "d", linePath(line)));
      setText(most, `${kind === "gradient" ? "gradient " : ""}${formatShort(high).replace("-", "−")}`);
      setText(least, formatShort(low).replace("-", "−"));
    },
  };
}
