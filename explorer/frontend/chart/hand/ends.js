// The ends of the x axis as handles: the number under the hand stays there, the other end too.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { formatNumber } from "../../formula/numbers.js";
import { across } from "../scene/panels.js";
import { getSampling } from "../../formula/sampling.js";
import { zoomed } from "../scene/view.js";

/** @import { Range } from "../scene/axes.js" */
/** @typedef {"moving"|"settled"} Phase */

const NAMES = ["Left end of x", "Right end of x"];
const NEAREST = 0.04; // of the width: how near to the other end the hand may come
const KEY_FACTOR = 1.1;
const PULL = "↔";

/**
 * @param {HTMLElement} layer that lies over the chart
 * @param {{view: () => Range, share: (px: number) => number, onView: (view: Range,
 *   phase: Phase) => void}} hand ``share`` says where a px of the window is, as a part of the width
 */
export function createEnds(layer, { view, share, onView }) {
  const nodes = NAMES.map((name, index) => {
    const named = { "aria-label": name, title: "Drag to stretch the axis (arrow keys too)" };
    const attributes = { class: "chart-end", role: "slider", tabindex: 0, ...named };
    const node = element("div", attributes, element("span", {}, PULL));
    drag(node, index);
    return node;
  });
  const held = /** @type {(number|null)[]} */ ([null, null]); // what lies under the hand
  let frame = /** @type {import("../scene/panels.js").Frame|null} */ (null);
  layer.append(...nodes);

  /** @param {HTMLElement} node @param {number} end 0 for the left end */
  function drag(node, end) {
    let from = /** @type {{view: Range, distance: number}|null} */ (null);
    const distance = (/** @type {PointerEvent} */ { clientX }) => Math.abs(share(clientX) - (1 - end));
    const beyond = (/** @type {PointerEvent} */ { clientX }) =>
      (share(clientX) - (1 - end)) * (end ? 1 : -1) < NEAREST;
    const stretch = (/** @type {PointerEvent} */ event, /** @type {Phase} */ phase) => {
      event.stopPropagation();
      if (!from) return;
      const now = beyond(event) ? NEAREST : distance(event);
      onView(zoomed(from.view, from.view[1 - end], from.distance / now), phase);
    };
    node.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      if (event.button) return;
      from = { view: view(), distance: distance(event) };
      hold(from.view[end]);
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => stretch(event, "moving"));
    node.addEventListener("pointerup", (event) => {
      hold(null);
      stretch(event, "settled");
      from = null;
    });
    node.addEventListener("pointercancel", () => {
      hold(null);
      if (from) onView(view(), "settled");
      from = null;
    });
    const hold = (/** @type {number|null} */ x) => {
      held[end] = x;
      node.classList.toggle("held", x !== null);
      place();
    };
    node.addEventListener("dblclick", (event) => event.stopPropagation());
    node.addEventListener("keydown", (event) => {
      const outwards = { ArrowRight: end ? 1 : -1, ArrowLeft: end ? -1 : 1 }[event.key];
      if (!outwards) return;
      event.preventDefault();
      event.stopPropagation();
      onView(zoomed(view(), view()[1 - end], KEY_FACTOR ** outwards), "settled");
    });
  }

  /** Put both ends where they belong: under the hand, or at the end of the axis. */
  function place() {
    if (!frame) return;
    const { x, bottom } = frame;
    for (const [end, node] of nodes.entries()) {
      const number = held[end];
      const left = across(frame, number ?? x[end]);
      node.style.transform = `translate(${left}px, ${bottom}px)`;
      const text = number === null ? PULL : formatNumber(number).replace("-", "−");
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
      place();
    },
  };
}
