// The keys of a chart that has the focus.

import { steppedX } from "../probe/probe-marks.js";
import { moved, zoomed } from "../scene/view.js";

/** @import { Range } from "../scene/axes.js" */
/**
 * The effects of keys; ``pinned`` is the x of the probe.
 * @typedef {{picture: import("../scene/picture.js").Picture, pinned: number|null, pin: (x: number|null) => void,
 *   ask: (view: Range, phase: "settled") => void, reset: () => void}} Keyboard
 */

/**
 * Arrows move the probe, + and − zoom around it, page keys move the view, Home resets it.
 * @param {KeyboardEvent} event
 * @param {Keyboard} keyboard
 */
export function press(event, { picture, pinned, pin, ask, reset }) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { curves, range: view } = picture;
  const x = pinned ?? (view[0] + view[1]) / 2;
  const steps = event.shiftKey ? 10 : 1;
  const zoom = (/** @type {number} */ factor) => ask(zoomed(view, x, factor), "settled");
  const acts = /** @type {Object<string, () => void>} */ ({
    ArrowLeft: () => pin(steppedX(curves, view, x, -steps)),
    ArrowRight: () => pin(steppedX(curves, view, x, steps)),
    PageUp: () => ask(moved(view, 0.25), "settled"),
    PageDown: () => ask(moved(view, -0.25), "settled"),
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
