// A layer over the chart's lowest panel, for a curve that the reader draws or that of a picked answer.

import { element, setText } from "../elements/dom.js";
import { formatPath } from "../chart/plotly/svg-paths.js";
import { toLeftPx, toTopPx, findPanel } from "../chart/scene/panels.js";
import { shape } from "../elements/svg.js";
import { clampTo } from "../formula/numbers.js";
import { createCells } from "./cells.js";
import { makeInterpolator } from "./judging.js";

/** @import { Frame } from "../chart/scene/panels.js" */

/**
 * Create a layer over a chart on which the reader draws a curve. The curve keeps its x and y when the axes change.
 * @param {[number, number]} range the initial range of x @param {() => void} onDrawn called after each change
 * @param {string} name what the curve is
 */
export function createDrawing(range, onDrawn, name) {
  const cells = createCells(range);
  const line = shape("path", { class: "drawn" });
  const picture = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  picture.append(line);
  const note = element("p", { class: "note", hidden: true });
  const legend = element("p", { class: "legend", hidden: true }, `dashed: ${name}`);
  const panel = element("div", { class: "answers-drawn" }, note, legend);
  const pad = element("div", {
    class: "pad",
    onpointerdown: begin,
    onpointermove: go,
    onpointerup: end,
    onpointercancel: end,
    onwheel: stopEvent,
    ondblclick: stopEvent,
  });
  const layer = element("div", { class: "drawing" }, picture, panel, pad);
  let frame = /** @type {Frame|null} */ (null);
  let last = /** @type {import("./cells.js").Point|null} */ (null);
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
    for (const { style } of [pad, panel]) Object.assign(style, { left, width, top, height });
    const x = cells.x.map((at) => toLeftPx(place, at));
    const path = formatPath({ x, y: cells.values.map((value) => toTopPx(axes, value)) });
    line.setAttribute("d", path);
    legend.hidden = !path;
  }

  function clear() {
    cells.clear();
    showsAnswer = false;
    setNote("");
  }

  /** Show a message in the panel. "" removes it. @param {string} text */
  function setNote(text) {
    setText(note, text);
    note.hidden = !text;
    show();
  }

  return {
    element: layer,
    /** Return the height drawn at an x. It is NaN if nothing is drawn there. */
    at: cells.at,
    /** Return the drawn curve. y is NaN at each x without a height. */
    curve: () => ({ x: cells.x, y: cells.values }),
    clear,
    /** @param {import("./judging.js").Curve} curve */
    showCurve(curve) {
      cells.fill(makeInterpolator(curve));
      showsAnswer = true;
      setNote("");
    },
    /** @param {string} text */
    say(text) {
      cells.clear();
      showsAnswer = true;
      setNote(text);
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
    /** End drawing: remove messages, but keep the curve. */
    finish() {
      pad.remove();
      setNote("");
    },
  };
}

/** Keep a pointer event from the chart below the layer. @param {Event} event */
function stopEvent(event) {
  event.stopPropagation();
}
