// Draggable handles for parameters that are equal to a kink's x. They also obey the arrow keys.

import { element, setAttribute } from "../../elements/dom.js";
import { toLeftPx } from "../scene/panels.js";
import { roundToUnit } from "../../formula/numbers.js";

/** @import { Grip } from "../scene/grips.js" */
/** @import { Frame } from "../scene/panels.js" */

const STEPS = 500; // the number of distinct values in a drag across the whole chart
const KEY_STEPS = 5;

/**
 * Create the layer of handles with which parameters are dragged along the chart's x axis.
 * @param {HTMLElement} layer over the chart
 * @param {(name: string, value: number, phase: "moving"|"settled") => void} onParameter
 */
export function createHandles(layer, onParameter) {
  /** @type {Map<string, {node: HTMLElement, grip: Grip, frame: Frame}>} */
  const handles = new Map();

  /** Create the drag handle for one parameter. @param {string} id */
  function createHandle(id) {
    const node = element("div", { class: "chart-grip", role: "slider", tabindex: 0 });
    const handle = { node, grip: /** @type {*} */ (null), frame: /** @type {*} */ (null) };
    handles.set(id, handle);
    layer.append(node);
    listenToDrags(handle, onParameter);
    return handle;
  }

  return {
    /** Draw a handle for each parameter whose kink is visible. @param {Grip[]} grips @param {Frame} frame */
    draw(grips, frame) {
      const [start, stop] = frame.x;
      const inView = grips.filter(({ sign, value }) => sign * value >= start && sign * value <= stop);
      const present = new Set(inView.map(({ id }) => id));
      for (const [id, { node }] of handles) {
        if (present.has(id)) continue;
        node.remove();
        handles.delete(id);
      }
      const placed = /** @type {number[]} */ ([]);
      for (const grip of inView) {
        const handle = handles.get(grip.id) ?? createHandle(grip.id);
        Object.assign(handle, { grip, frame });
        const x = toLeftPx(frame, grip.sign * grip.value);
        placeHandle(handle.node, grip, frame, x, placed.filter((other) => Math.abs(other - x) < 24).length);
        placed.push(x);
      }
    },
  };
}

/**
 * Move a parameter's handle to its kink, and update the label, colour and value of the handle.
 * @param {HTMLElement} node @param {Grip} grip @param {Frame} frame @param {number} x in px
 * @param {number} others the number of handles at this x, next to which it is placed
 */
function placeHandle(node, { label, sign, value, colour }, frame, x, others) {
  const { gradient, left, inner, bottom } = frame;
  const [start, stop] = frame.x;
  node.style.setProperty("--colour", colour);
  node.style.setProperty("--tall", `${bottom - gradient.top}px`);
  node.style.setProperty("--aside", `${26 * others * (x > left + inner / 2 ? -1 : 1)}px`);
  node.style.transform = `translate(${x}px, ${gradient.top}px)`;
  setAttribute(node, "aria-label", label);
  setAttribute(node, "title", `Drag ${label}`);
  setAttribute(node, "aria-valuemin", Math.min(sign * start, sign * stop));
  setAttribute(node, "aria-valuemax", Math.max(sign * start, sign * stop));
  setAttribute(node, "aria-valuenow", value);
}

/**
 * Make the handle of a parameter follow drags and the arrow keys.
 * @param {{node: HTMLElement, grip: Grip, frame: Frame}} handle
 * @param {(name: string, value: number, phase: "moving"|"settled") => void} onParameter
 */
function listenToDrags(handle, onParameter) {
  const { node } = handle;
  let offset = 0;
  const getUnit = () => (handle.frame.x[1] - handle.frame.x[0]) / STEPS;
  const tell = (/** @type {number} */ x, /** @type {"moving"|"settled"} */ phase) => {
    const { grip, frame } = handle;
    const inView = Math.min(Math.max(x, frame.x[0]), frame.x[1]);
    onParameter(grip.name, grip.sign * roundToUnit(inView, getUnit()) + 0, phase);
  };
  const xOf = (/** @type {PointerEvent} */ event) => {
    const { left, inner, x } = handle.frame;
    const px = event.clientX - offset - (node.parentElement?.getBoundingClientRect().left ?? 0);
    return x[0] + ((px - left) / inner) * (x[1] - x[0]);
  };
  node.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    if (event.button) return;
    const box = node.getBoundingClientRect();
    offset = event.clientX - (box.left + box.width / 2);
    node.setPointerCapture(event.pointerId);
  });
  const handleDrag = (/** @type {PointerEvent} */ event) => {
    event.stopPropagation();
    const phase = event.type === "pointerup" ? "settled" : "moving";
    if (node.hasPointerCapture(event.pointerId)) tell(xOf(event), phase);
  };
  node.addEventListener("pointermove", handleDrag);
  node.addEventListener("pointerup", handleDrag);
  node.addEventListener("dblclick", (event) => event.stopPropagation());
  node.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!steps) return;
    event.preventDefault();
    event.stopPropagation();
    const { sign, value } = handle.grip;
    const forwards = event.key === "ArrowUp" || event.key === "ArrowDown" ? sign * steps : steps;
    tell(sign * value + forwards * KEY_STEPS * getUnit() * (event.shiftKey ? 10 : 1), "settled");
  });
}
