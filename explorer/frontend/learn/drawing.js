// A prediction, on a layer over the chart's lower
// panel: drawn by hand, or the curve of a picked answer.

import { element, setText } from "../elements/dom.js";
import { across, down, panelOf } from "../chart/scene/panels.js";
import { shape } from "../elements/svg.js";
import { clampTo } from "../formula/numbers.js";
import { createCells } from "./cells.js";
import { valuesOf } from "./judging.js";

/** @import { Frame } from "../chart/scene/panels.js" */

/**
 * The layer, to be put over a chart. What is drawn stays where it is on the axes, whatever
 * the chart does.
 * @param {[number, number]} range of x at first
 * @param {() => void} onDrawn
 */
export function createDrawing(range, onDrawn) {
  const cells = createCells(range);
  const line = shape("path", { class: "drawn" });
  const picture = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  picture.append(line);
  const note = element("p", { class: "note", hidden: true });
  const legend = element("p", { class: "legend", hidden: true }, "dashed: your prediction");
  const panel = element("div", { class: "answers-drawn" }, note, legend);
  const pad = element("div", {
    class: "pad",
    onpointerdown: begin,
    onpointermove: go,
    onpointerup: end,
    onpointercancel: end,
    onwheel: stay,
    ondblclick: stay,
  });
  const layer = element("div", { class: "drawing" }, picture, panel, pad);
  let frame = /** @type {Frame|null} */ (null);
  let last = /** @type {import("./cells.js").Point|null} */ (null);
  let laid = false; // the visible curve is that of an answer, which a pen does not mend

  /** @param {PointerEvent} event @param {Frame} frame */
  function under(event, frame) {
    const { left, inner, x } = frame;
    const [low, high] = x;
    const { top, height, range } = lowest(frame);
    const box = layer.getBoundingClientRect();
    const at = low + ((event.clientX - box.left - left) / inner) * (high - low);
    const [least, most] = range;
    const value = most - ((event.clientY - box.top - top) / height) * (most - least);
    return { x: at, value: clampTo(value, least, most) };
  }

  /** @param {PointerEvent} event */
  function begin(event) {
    stay(event);
    pad.setPointerCapture(event.pointerId);
    if (laid) clear();
    last = null;
    go(event, true);
  }

  /** @param {PointerEvent} event @param {boolean} [first] */
  function go(event, first) {
    stay(event);
    if (!frame || (!last && first !== true)) return;
    const to = under(event, frame);
    cells.stroke(last ?? to, to);
    last = to;
    show();
  }

  /** @param {PointerEvent} event */
  function end(event) {
    stay(event);
    if (last) onDrawn();
    last = null;
  }

  function show() {
    if (!frame) return;
    const { left, inner } = frame;
    const { top, height } = lowest(frame);
    const box = {
      left: `${left}px`,
      width: `${inner}px`,
      top: `${top}px`,
      height: `${height}px`,
    };
    Object.assign(pad.style, box);
    Object.assign(panel.style, box);
    line.setAttribute("d", pathOf(frame));
    legend.hidden = !line.getAttribute("d");
  }

  /** @param {Frame} frame */
  function pathOf(frame) {
    let pen = "M";
    let drawn = "";
    cells.values.forEach((value, cell) => {
      if (Number.isNaN(value)) pen = "M";
      else {
        drawn += `${pen}${across(frame, cells.x[cell]).toFixed(1)},${down(lowest(frame), value).toFixed(1)}`;
        pen = "L";
      }
    });
    return drawn;
  }

  function clear() {
    cells.clear();
    laid = false;
    tell("");
  }

  /** @param {string} text */
  function tell(text) {
    setText(note, text);
    note.hidden = !text;
    show();
  }

  return {
    element: layer,
    /** The drawn value at an x, NaN where nothing is drawn. */
    at: cells.at,
    /** The drawn curve, cell by cell. */
    curve: () => ({ x: cells.x, y: cells.values }),
    clear,
    /** Show the curve of an answer. @param {import("./judging.js").Curve} curve */
    lay(curve) {
      cells.fill(valuesOf(curve));
      laid = true;
      tell("");
    },
    /** Say instead of a curve that there is none. @param {string} text */
    say(text) {
      cells.clear();
      laid = true;
      tell(text);
    },
    saved: cells.saved,
    /** @param {(number|null)[]} saved */
    restore(saved) {
      cells.restore(saved);
      show();
    },
    /** @param {Frame} next where the panels lie now */
    follow(next) {
      frame = next;
      show();
    },
    /** No more drawing: a curve that is drawn stays, words instead of it go. */
    finish() {
      pad.remove();
      tell("");
    },
  };
}

/** Keep from the chart what happens on the pad. @param {Event} event */
function stay(event) {
  event.stopPropagation();
  if (event.type === "wheel") event.preventDefault();
}

/** The panel that is drawn on: of the gradients, or of the parts where there are any. @param {Frame} frame */
function lowest(frame) {
  return panelOf(frame, "part");
}
