// Keyboard control of a focused chart.

import { stepX } from "../probe/probe-marks.js";
import { moveView, zoomView } from "../scene/view.js";

/** @import { Range } from "../scene/axes.js" */
/**
 * Callbacks for keys on the chart. ``pinned``: x of the probe, or null; ``pin``: pins the probe, or unpins it with
 * null; ``ask``: requests a visible range.
 * @typedef {{picture: import("../scene/picture.js").Picture, pinned: number|null, pin: (x: number|null) => void, ask:
 *   (view: Range, phase: "settled") => void, reset: () => void}} Keyboard
 */

/**
 * Handle a key on the focused chart: arrows move the probe, Escape hides it, + and − zoom around it, page keys move the
 * visible range, and Home resets it.
 * @param {KeyboardEvent} event @param {Keyboard} keyboard
 */
export function handleKey(event, { picture, pinned, pin, ask, reset }) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { curves, range: view } = picture;
  const x = pinned ?? (view[0] + view[1]) / 2;
  const steps = event.shiftKey ? 10 : 1;
  const zoom = (/** @type {number} */ factor) => ask(zoomView(view, x, factor), "settled");
  const acts = /** @type {Object<string, () => void>} */ ({
    ArrowLeft: () => pin(stepX(curves, view, x, -steps)),
    ArrowRight: () => pin(stepX(curves, view, x, steps)),
    PageUp: () => ask(moveView(view, 0.25), "settled"),
    PageDown: () => ask(moveView(view, -0.25), "settled"),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    Home: reset,
    Escape: () => pin(null),
  });
  if (!Object.hasOwn(acts, event.key)) return;
  event.preventDefault();
  acts[event.key]();
}
