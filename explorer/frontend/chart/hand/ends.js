// Draggable handles at the ends of the chart's x axis. During a drag, the x under the pointer and the other end stay
// fixed.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { formatNumber, writeMinus } from "../../formula/numbers.js";
import { toLeftPx } from "../scene/panels.js";
import { getSampling } from "../../formula/sampling.js";
import { zoomView } from "../scene/view.js";

/** @import { Range } from "../scene/axes.js" */
/** The phase of a drag: "settled" once it has ended. @typedef {"moving"|"settled"} Phase */

const NAMES = ["Left end of x", "Right end of x"];
const MIN_DISTANCE = 0.04; // minimum distance of the two ends during a drag, as a fraction of the axis
const KEY_FACTOR = 1.1;
const HANDLE_TEXT = "↔";
const BELOW_TICKS = 1.6; // the distance of the arrows from the axis, relative to the font size: below its numbers

/**
 * Create a draggable handle at each end of the chart's x axis.
 * @param {HTMLElement} layer an element over the chart
 * @param {{view: () => Range, share: (px: number) => number, onView: (view: Range, phase: Phase) => void}} hand
 *   ``view``: returns the visible range of x; ``share``: converts a window position in px to a fraction of the axis;
 *   ``onView``: called with each range that the user requests
 */
export function createEnds(layer, { view, share, onView }) {
  const nodes = NAMES.map((name, index) => {
    const named = {
      "aria-label": name,
      title: "Drag to stretch the axis (arrow keys, Ctrl and the wheel too)",
    };
    const attributes = { class: "chart-end", role: "slider", tabindex: 0, ...named };
    const node = element("div", attributes, element("span", {}, HANDLE_TEXT));
    listenToDrags(node, index);
    return node;
  });
  // the x at which each handle was grabbed, null if it is not held
  const heldValues = /** @type {(number|null)[]} */ ([null, null]);
  let frame = /** @type {import("../scene/panels.js").Frame|null} */ (null);
  layer.append(...nodes);

  /** @param {HTMLElement} node @param {number} end 0 for the left end, 1 for the right end */
  function listenToDrags(node, end) {
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
      placeHandles();
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

  function placeHandles() {
    if (!frame) return;
    const { x, bottom, size } = frame;
    for (const [end, node] of nodes.entries()) {
      const number = heldValues[end];
      const left = toLeftPx(frame, number ?? x[end]);
      node.style.transform = `translate(${left}px, ${bottom}px)`;
      node.style.paddingTop = `${BELOW_TICKS * size}px`;
      const text = number === null ? HANDLE_TEXT : writeMinus(formatNumber(number));
      setText(/** @type {Element} */ (node.firstChild), text);
      setAttribute(node, "aria-valuenow", x[end]);
      setAttribute(node, "aria-valuemin", end ? x[0] : -getSampling().largest);
      setAttribute(node, "aria-valuemax", end ? getSampling().largest : x[1]);
    }
  }

  return {
    /** @param {import("../scene/panels.js").Frame} next */
    draw(next) {
      frame = next;
      placeHandles();
    },
  };
}
