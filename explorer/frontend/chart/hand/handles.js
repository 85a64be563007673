// Draggable handles on the x axis for parameters that set the position of a kink, such as lo and hi of clamp. The arrow
// keys move them too.

import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { placeGrips } from "../scene/grips.js";
import { roundToUnit } from "../../formula/numbers.js";

/** @import { Grip } from "../scene/grips.js" */
/** @import { Frame } from "../scene/panels.js" */

const STEPS = 500; // number of parameter values in a drag across the whole chart
const KEY_STEPS = 5;

/**
 * Create the layer of handles with which parameters are dragged along the x axis.
 * @param {HTMLElement} layer an element over the chart
 * @param {(name: string, value: number, phase: "moving"|"settled") => void} onParameter called with the name of a
 *   parameter and its new value
 */
export function createHandles(layer, onParameter) {
  const host = layer.appendChild(element("div", {}));
  let offset = 0; // distance in px from the middle of the held handle to the pointer

  /** @param {ReturnType<typeof placeGrips>[number]} placed @param {Frame} frame */
  function drawHandle({ grip, px, aside }, frame) {
    const { id, label, name, sign, value, colour } = grip;
    const { gradient, left, inner, bottom } = frame;
    const [start, stop] = frame.x;
    const unit = (stop - start) / STEPS;
    const tell = (/** @type {number} */ x, /** @type {"moving"|"settled"} */ phase) => {
      const inView = Math.min(Math.max(x, start), stop);
      onParameter(name, sign * roundToUnit(inView, unit) + 0, phase);
    };
    const drag = (/** @type {*} */ event) => {
      event.stopPropagation();
      if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
      const at = event.clientX - offset - host.getBoundingClientRect().left;
      const phase = event.type === "pointerup" ? "settled" : "moving";
      tell(start + ((at - left) / inner) * (stop - start), phase);
    };
    const style = {
      "--colour": colour,
      "--tall": `${bottom - gradient.top}px`,
      "--aside": `${aside}px`,
      transform: `translate(${px}px, ${gradient.top}px)`,
    };
    return h("div", {
      ...{ key: id, class: "chart-grip", role: "slider", tabindex: 0, title: `Drag ${label}` },
      style: Object.entries(style)
        .map((one) => one.join(": "))
        .join("; "),
      "aria-label": label,
      "aria-valuemin": Math.min(sign * start, sign * stop),
      "aria-valuemax": Math.max(sign * start, sign * stop),
      "aria-valuenow": value,
      onpointerdown(/** @type {*} */ event) {
        event.stopPropagation();
        if (event.button) return;
        const box = event.currentTarget.getBoundingClientRect();
        offset = event.clientX - (box.left + box.width / 2);
        event.currentTarget.setPointerCapture(event.pointerId);
      },
      onpointermove: drag,
      onpointerup: drag,
      ondblclick: (/** @type {Event} */ event) => event.stopPropagation(),
      onkeydown(/** @type {KeyboardEvent} */ event) {
        const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
        if (!steps) return;
        event.preventDefault();
        event.stopPropagation();
        const forwards = event.key === "ArrowUp" || event.key === "ArrowDown" ? sign * steps : steps;
        tell(sign * value + forwards * KEY_STEPS * unit * (event.shiftKey ? 10 : 1), "settled");
      },
    });
  }

  return {
    /** @param {Grip[]} grips @param {Frame} frame */
    draw(grips, frame) {
      render(
        host,
        placeGrips(grips, frame).map((placed) => drawHandle(placed, frame)),
      );
    },
  };
}
