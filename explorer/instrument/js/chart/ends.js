// The ends of the x axis, to be grasped: what is held stays under the hand, the other end where it is.

import { element, setAttribute } from "../elements/dom.js";
import { MOST, zoomed } from "./view.js";

/** @typedef {import("./axes.js").Range} Range */
/** @typedef {"moving"|"settled"} Phase */

const NAMES = ["Left end of x", "Right end of x"];
const NEAREST = 0.04; // of the width: how near to the other end the hand may come
const KEY_FACTOR = 1.1;

/**
 * @param {HTMLElement} layer that lies over the chart
 * @param {{view: () => Range, share: (px: number) => number, onView: (view: Range, phase: Phase) => void}} hand
 *   ``share`` says where a px of the window is, as a part of the width
 */
export function createEnds(layer, { view, share, onView }) {
  const nodes = NAMES.map((name, place) => {
    const hint = "Drag to stretch the axis (arrow keys too)";
    const node = element("div", {
      class: "chart-end",
      role: "slider",
      tabindex: 0,
      "aria-label": name,
      title: hint,
    });
    drag(node, place);
    return node;
  });
  layer.append(...nodes);

  /** @param {HTMLElement} node @param {number} place 0 for the left end */
  function drag(node, place) {
    let from = /** @type {{view: Range, distance: number}|null} */ (null);
    const distance = (/** @type {PointerEvent} */ { clientX }) => Math.abs(share(clientX) - (1 - place));
    const beyond = (/** @type {PointerEvent} */ { clientX }) =>
      (share(clientX) - (1 - place)) * (place ? 1 : -1) < NEAREST;
    const stretch = (/** @type {PointerEvent} */ event, /** @type {Phase} */ phase) => {
      event.stopPropagation();
      if (!from) return;
      const now = beyond(event) ? NEAREST : distance(event);
      onView(zoomed(from.view, from.view[1 - place], from.distance / now), phase);
    };
    node.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      if (event.button) return;
      from = { view: view(), distance: distance(event) };
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => stretch(event, "moving"));
    node.addEventListener("pointerup", (event) => {
      stretch(event, "settled");
      from = null;
    });
    node.addEventListener("pointercancel", () => {
      if (from) onView(view(), "settled");
      from = null;
    });
    node.addEventListener("dblclick", (event) => event.stopPropagation());
    node.addEventListener("keydown", (event) => {
      const outwards = { ArrowRight: place ? 1 : -1, ArrowLeft: place ? -1 : 1 }[event.key];
      if (!outwards) return;
      event.preventDefault();
      event.stopPropagation();
      onView(zoomed(view(), view()[1 - place], KEY_FACTOR ** outwards), "settled");
    });
  }

  return {
    /** @param {import("./plot.js").Frame} frame */
    draw({ left, inner, x, gradient }) {
      const top = gradient.top + gradient.height;
      nodes.forEach((node, place) => {
        node.style.transform = `translate(${left + place * inner}px, ${top}px)`;
        setAttribute(node, "aria-valuenow", x[place]);
        setAttribute(node, "aria-valuemin", place ? x[0] : -MOST);
        setAttribute(node, "aria-valuemax", place ? MOST : x[1]);
      });
    },
  };
}
