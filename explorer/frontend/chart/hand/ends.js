// The ends of the x axis as draggable handles: the number under the pointer stays there, and so does the other end.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { formatNumber } from "../../formula/numbers.js";
import { toLeftPx } from "../scene/panels.js";
import { getSampling } from "../../formula/sampling.js";
import { zoomView } from "../scene/view.js";

/** @import { Range } from "../scene/axes.js" */
/** @typedef {"moving"|"settled"} Phase */

const NAMES = ["Left end of x", "Right end of x"];
const MIN_DISTANCE = 0.04; // minimum distance to the other end, as a share of the width
const KEY_FACTOR = 1.1;
const HANDLE_TEXT = "↔";

/**
 * Create the handles at both ends of the x axis.
 * @param {HTMLElement} layer over the chart
 * @param {{view: () => Range, share: (px: number) => number, onView: (view: Range,
 *   phase: Phase) => void}} hand ``share`` returns the position of a px of the window as a share of the width
 */
export function createEnds(layer, { view, share, onView }) {
  const nodes = NAMES.map((name, index) => {
    const named = { "aria-label": name, title: "Drag to stretch the axis (arrow keys too)" };
    const attributes = { class: "chart-end", role: "slider", tabindex: 0, ...named };
    const node = element("div", attributes, element("span", {}, HANDLE_TEXT));
    drag(node, index);
    return node;
  });
  const heldValues = /** @type {(number|null)[]} */ ([null, null]); // numbers under the pointer
  let frame = /** @type {import("../scene/panels.js").Frame|null} */ (null);
  layer.append(...nodes);

  /** Listen to drags and keys of a handle. @param {HTMLElement} node @param {number} end 0 for the left end */
  function drag(node, end) {
    let dragStart = /** @type {{view: Range, distance: number}|null} */ (null);
    const getDistance = (/** @type {PointerEvent} */ { clientX }) => Math.abs(share(clientX) - (1 - end));
    const isTooNear = (/** @type {PointerEvent} */ { clientX }) =>
      (share(clientX) - (1 - end)) * (end ? 1 : -1) < MIN_DISTANCE;
    const resizeView = (/** @type {PointerEvent} */ event, /** @type {Phase} */ phase) => {
      event.stopPropagation();
      if (!dragStart) return;
      const now = isTooNear(event) ? MIN_DISTANCE : getDistance(event);
      onView(zoomView(dragStart.view, dragStart.view[1 - end], dragStart.distance / now), phase);
    };
    node.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      if (event.button) return;
      dragStart = { view: view(), distance: getDistance(event) };
      hold(dragStart.view[end]);
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => resizeView(event, "moving"));
    node.addEventListener("pointerup", (event) => {
      hold(null);
      resizeView(event, "settled");
      dragStart = null;
    });
    node.addEventListener("pointercancel", () => {
      hold(null);
      if (dragStart) onView(view(), "settled");
      dragStart = null;
    });
    const hold = (/** @type {number|null} */ x) => {
      heldValues[end] = x;
      node.classList.toggle("held", x !== null);
      place();
    };
    node.addEventListener("dblclick", (event) => event.stopPropagation());
    node.addEventListener("keydown", (event) => {
      const outwards = { ArrowRight: end ? 1 : -1, ArrowLeft: end ? -1 : 1 }[event.key];
      if (!outwards) return;
      event.preventDefault();
      event.stopPropagation();
      onView(zoomView(view(), view()[1 - end], KEY_FACTOR ** outwards), "settled");
    });
  }

  /** Move both handles: under the pointer, or to the end of the axis. */
  function place() {
    if (!frame) return;
    const { x, bottom } = frame;
    for (const [end, node] of nodes.entries()) {
      const number = heldValues[end];
      const left = toLeftPx(frame, number ?? x[end]);
      node.style.transform = `translate(${left}px, ${bottom}px)`;
      const text = number === null ? HANDLE_TEXT : formatNumber(number).replace("-", "−");
      setText(/** @type {Element} */ (node.firstChild), text);
      setAttribute(node, "aria-valuenow", x[end]);
      setAttribute(node, "aria-valuemin", end ? x[0] : -getSampling().largest);
      setAttribute(node, "aria-valuemax", end ? getSampling().largest : x[1]);
    }
  }

  return {
    /** Draw the handles in a frame. @param {import("../scene/panels.js").Frame} next */
    draw(next) {
      frame = next;
      place();
    },
  };
}
