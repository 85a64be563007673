// A draggable point on the op's curve, for moving the probe by touch or mouse.

import { toLeftPx, toTopPx } from "../scene/panels.js";
import { element } from "../../elements/dom.js";

/**
 * Create the draggable point on the op's curve that moves the probe.
 * @param {HTMLElement} layer an element over the chart
 * @param {{xUnder: (px: number) => number|null, pin: (x: number|null) => void}} hand ``xUnder``: returns the x at a
 *   window position in px; ``pin``: pins the probe
 */
export function createKnob(layer, { xUnder, pin }) {
  const node = element("div", {
    class: "chart-knob",
    "aria-hidden": "true",
    title: "Drag the point",
    hidden: "",
  });
  layer.append(node);
  const isHeld = (/** @type {PointerEvent} */ event) => node.hasPointerCapture(event.pointerId);
  node.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    event.stopPropagation();
    if (!event.button) node.setPointerCapture(event.pointerId);
  });
  for (const type of ["pointermove", "pointerup"])
    node.addEventListener(type, (/** @type {*} */ event) => {
      if (!isHeld(event)) return;
      event.stopPropagation();
      pin(xUnder(event.clientX));
    });
  node.addEventListener("dblclick", (/** @type {Event} */ event) => event.stopPropagation());

  return {
    /**
     * Move the point to x and y of the probe. Hide it if they are out of view, or ``values`` is null.
     * @param {import("./probe-values.js").Values|null} values the curves' values at the probe, or null for no point
     * @param {import("../scene/panels.js").Frame|undefined} frame
     */
    place(values, frame) {
      const {
        forward,
        x: [start, stop],
      } = frame ?? { forward: { range: [1, 0] }, x: [1, 0] };
      const [low, high] = forward.range;
      const isSeen =
        values && frame && values.x >= start && values.x <= stop && values.y >= low && values.y <= high;
      node.hidden = !isSeen;
      if (isSeen)
        node.style.transform = `translate(${toLeftPx(frame, values.x)}px, ${toTopPx(frame.forward, values.y)}px)`;
    },
  };
}
