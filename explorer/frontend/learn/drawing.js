// A layer over the chart's lowest panel, for a curve that the reader draws or that of a picked answer.

import { element, setText } from "../elements/dom.js";
import { formatPath } from "../chart/plotly/svg-paths.js";
import { toLeftPx, toTopPx, findPanel } from "../chart/scene/panels.js";
import { shape } from "../elements/svg.js";
import { clampTo } from "../formula/numbers.js";
import { makeInterpolator } from "./judging.js";

/** @import { Frame } from "../chart/scene/panels.js" */
/** A point of a drawn curve. @typedef {{x: number, value: number}} Point */

const SHADE_PX = 3; // a shaded place is wider by this to each side
const CELLS = 300; // cells of equal width over the range of x, each with one height

/**
 * Create a layer over a chart on which the reader draws a curve. The curve keeps its x and y when the axes change.
 * @param {[number, number]} range the initial range of x @param {() => void} onDrawn called after each change
 */
export function createDrawing(range, onDrawn) {
  const cells = createCells(range);
  const [line, shade] = ["drawn", "shade"].map((name) => shape("path", { class: name }));
  const picture = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  picture.append(shade, line);
  const [named, unsent] = [element("span", {}, "dashed: your prediction"), element("span", {})];
  const legend = element("p", { class: "legend", hidden: true }, named, unsent);
  const pad = element("div", {
    class: "pad",
    ontouchstart: (/** @type {Event} */ event) => event.preventDefault(), // else a tap right after a stroke is lost
    onpointerdown: begin,
    onpointermove: go,
    onpointerup: end,
    onpointercancel: end,
    onwheel: stopEvent,
    ondblclick: stopEvent,
  });
  const layer = element("div", { class: "drawing" }, picture, legend, pad);
  let frame = /** @type {Frame|null} */ (null);
  let last = /** @type {Point|null} */ (null);
  let places = /** @type {import("./judging.js").Deviation[]} */ ([]); // which are shaded
  let showsAnswer = false; // whether it shows a picked answer's curve, which a stroke replaces

  /**
   * Convert the position of a pointer to x and y on the axes of the chart, with y limited to the axis.
   * @param {PointerEvent} event @param {Frame} frame
   */
  function toPoint(event, frame) {
    const { left, inner, x } = frame;
    const [low, high] = x;
    const { top, height, range } = findPanel(frame, "part");
    const box = layer.getBoundingClientRect();
    const at = low + ((event.clientX - box.left - left) / inner) * (high - low);
    const [min, max] = range;
    const value = max - ((event.clientY - box.top - top) / height) * (max - min);
    return { x: at, value: clampTo(value, min, max) };
  }

  /** @param {PointerEvent} event */
  function begin(event) {
    stopEvent(event);
    pad.setPointerCapture(event.pointerId);
    if (showsAnswer) clear();
    last = null;
    go(event, true);
  }

  /** @param {PointerEvent} event @param {boolean} [first] */
  function go(event, first) {
    stopEvent(event);
    if (!frame || (!last && first !== true)) return;
    const to = toPoint(event, frame);
    cells.drawLine(last ?? to, to);
    last = to;
    show();
  }

  /** @param {PointerEvent} event */
  function end(event) {
    stopEvent(event);
    if (last) onDrawn();
    last = null;
  }

  function show() {
    if (!frame) return;
    const place = frame;
    const axes = findPanel(place, "part");
    const [left, width, top, height] = [place.left, place.inner, axes.top, axes.height].map(
      (px) => `${px}px`,
    );
    Object.assign(pad.style, { left, width, top, height });
    const x = cells.x.map((at) => toLeftPx(place, at));
    const path = formatPath({ x, y: cells.values.map((value) => toTopPx(axes, value)) });
    line.setAttribute("d", path);
    const areas = places.map(({ from, to }) => {
      const [start, stop] = [toLeftPx(place, from) - SHADE_PX, toLeftPx(place, to) + SHADE_PX];
      return `M${start},${axes.top}H${stop}v${axes.height}H${start}Z`;
    });
    shade.setAttribute("d", areas.join(""));
    legend.hidden = !path;
  }

  function clear() {
    cells.clear();
    showsAnswer = false;
    show();
  }

  return {
    element: layer,
    /** Return the height drawn at an x. It is NaN if nothing is drawn there. */
    at: cells.at,
    /** Return the drawn curve. y is NaN at each x without a height. */
    curve: () => ({ x: cells.x, y: cells.values }),
    curves: () => [{ x: cells.x, y: cells.values }],
    clear,
    /** @param {import("./judging.js").Curve} curve @param {string} name of the curve, in the legend */
    showCurve(curve, name) {
      setText(named, `dashed: ${name}`);
      cells.fill(makeInterpolator(curve));
      showsAnswer = true;
      show();
    },
    /** Say in the legend whether a class has the curve. */
    markSent: (/** @type {boolean} */ isSent) => setText(unsent, isSent ? "" : ", not sent"),
    /** Draw a shade over parts of the panel, in place of the last ones. @param {import("./judging.js").Deviation[]} wrong */
    shade(wrong) {
      places = wrong;
      show();
    },
    saved: cells.saved,
    /** @param {(number|null)[]} saved */
    restore(saved) {
      cells.restore(saved);
      show();
    },
    /** @param {Frame} next the positions of the panels */
    follow(next) {
      frame = next;
      show();
    },
    /** End drawing, but keep the curve. */
    finish() {
      pad.remove();
      places = [];
      show();
    },
  };
}

/** Keep a pointer event from the chart below the layer. @param {Event} event */
function stopEvent(event) {
  event.stopPropagation();
}

/** Create an empty drawn curve over a range of x, with ``CELLS`` heights. @param {[number, number]} range */
function createCells([start, stop]) {
  const values = new Float64Array(CELLS).fill(NaN);
  const x = Float64Array.from(values, (_, cell) => start + ((cell + 0.5) / CELLS) * (stop - start));
  const getCellIndex = (/** @type {number} */ at) =>
    clampTo(Math.floor(((at - start) / (stop - start)) * CELLS), 0, CELLS - 1);

  return {
    /** The x at the centre of each cell, in ascending order. */
    x,
    /** The height drawn in each cell, NaN if none. */
    values,
    /** Return the height drawn at an x. It is NaN if nothing is drawn there. @param {number} at */
    at: (at) => values[getCellIndex(at)],
    clear: () => values.fill(NaN),
    /** Draw a straight line between two points, over anything drawn before. @param {Point} from @param {Point} to */
    drawLine(from, to) {
      const [first, last] = [getCellIndex(from.x), getCellIndex(to.x)];
      const steps = Math.max(Math.abs(last - first), 1);
      for (let step = 0; step <= steps; step += 1) {
        const share = step / steps;
        values[Math.round(first + share * (last - first))] = from.value + share * (to.value - from.value);
      }
    },
    /** @param {(x: number) => number} curve returns a height, NaN outside its domain */
    fill: (curve) => values.set(x.map(curve)),
    /** Return the heights as JSON data with three decimals, null for empty cells. @returns {(number|null)[]} */
    saved: () => Array.from(values, (value) => (Number.isNaN(value) ? null : Number(value.toFixed(3)))),
    /** @param {(number|null)[]} saved */
    restore: (saved) => values.set(saved.map((value) => value ?? NaN).slice(0, CELLS)),
  };
}
