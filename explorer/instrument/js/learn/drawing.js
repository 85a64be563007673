// A gradient drawn by hand: a layer over the chart's lower panel.

import { element } from "../elements/dom.js";
import { across, down } from "../chart/plot.js";
import { shape } from "../elements/svg.js";
import { within } from "../formula/numbers.js";

/** @typedef {import("../chart/plot.js").Frame} Frame */

const CELLS = 300;

/**
 * The layer, to be put into the place of a chart. What is drawn stays where it is on the axes, whatever
 * the chart does.
 * @param {[number, number]} range of x at first
 * @param {() => void} onDrawn
 */
export function createDrawing([start, stop], onDrawn) {
  const values = new Float64Array(CELLS).fill(NaN);
  const line = shape("path", { class: "drawn" });
  const picture = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  picture.append(line);
  const pad = element("div", {
    class: "pad",
    onpointerdown: begin,
    onpointermove: go,
    onpointerup: end,
    onpointercancel: end,
    onwheel: stay,
    ondblclick: stay,
  });
  const layer = element("div", { class: "drawing" }, picture, pad);
  let frame = /** @type {Frame|null} */ (null);
  let last = /** @type {{cell: number, value: number}|null} */ (null);

  /** The cell of an x. @param {number} x */
  function cellOf(x) {
    return within(Math.floor(((x - start) / (stop - start)) * CELLS), 0, CELLS - 1);
  }

  /** @param {PointerEvent} event @param {Frame} frame */
  function under(event, { left, inner, x: [low, high], gradient }) {
    const box = layer.getBoundingClientRect();
    const x = low + ((event.clientX - box.left - left) / inner) * (high - low);
    const [least, most] = gradient.range;
    const value = most - ((event.clientY - box.top - gradient.top) / gradient.height) * (most - least);
    return { cell: cellOf(x), value: within(value, least, most) };
  }

  /** @param {PointerEvent} event */
  function begin(event) {
    stay(event);
    pad.setPointerCapture(event.pointerId);
    last = null;
    go(event, true);
  }

  /** @param {PointerEvent} event @param {boolean} [first] */
  function go(event, first) {
    stay(event);
    if (!frame || (!last && first !== true)) return;
    const to = under(event, frame);
    fill(last ?? to, to);
    last = to;
    show();
  }

  /** @param {{cell: number, value: number}} from @param {{cell: number, value: number}} to */
  function fill(from, to) {
    const steps = Math.max(Math.abs(to.cell - from.cell), 1);
    for (let step = 0; step <= steps; step += 1) {
      const share = step / steps;
      values[Math.round(from.cell + share * (to.cell - from.cell))] =
        from.value + share * (to.value - from.value);
    }
  }

  /** @param {PointerEvent} event */
  function end(event) {
    stay(event);
    if (last) onDrawn();
    last = null;
  }

  function show() {
    if (!frame) return;
    const { left, inner, gradient } = frame;
    Object.assign(pad.style, {
      left: `${left}px`,
      width: `${inner}px`,
      top: `${gradient.top}px`,
      height: `${gradient.height}px`,
    });
    line.setAttribute("d", pathOf(frame));
  }

  /** @param {Frame} frame */
  function pathOf(frame) {
    let pen = "M";
    let drawn = "";
    values.forEach((value, cell) => {
      if (Number.isNaN(value)) pen = "M";
      else {
        const x = start + ((cell + 0.5) / CELLS) * (stop - start);
        drawn += `${pen}${across(frame, x).toFixed(1)},${down(frame.gradient, value).toFixed(1)}`;
        pen = "L";
      }
    });
    return drawn;
  }

  return {
    element: layer,
    /** What was drawn at an x, NaN where nothing was. @param {number} x */
    valueAt: (x) => values[cellOf(x)],
    /** @param {Frame} next where the panels lie now */
    follow(next) {
      frame = next;
      show();
    },
    /** No more drawing: what is drawn stays. */
    finish: () => pad.remove(),
    clear() {
      values.fill(NaN);
      show();
    },
  };
}

/** Keep from the chart what happens on the pad. @param {Event} event */
function stay(event) {
  event.stopPropagation();
  if (event.type === "wheel") event.preventDefault();
}
