// Gestures of one chart: pointer positions as an x or as a fraction of the chart's width.

import { toPanelFraction } from "../scene/panels.js";
import { findPointedX } from "../probe/probe-marks.js";

/**
 * Connect the gestures on a chart to its probe and its visible range. ``xUnder`` returns the x at a window position.
 * @param {import("./parts.js").Parts} parts @param {ReturnType<typeof import("../probe/probe.js").createProbe>} probe
 * @param {Pick<import("./gestures.js").Hand, "view"|"onView"|"onReset"|"pencil"> & {displayed: () => { picture:
 *   import("../scene/picture.js").Picture|null, scene: import("../scene/scene.js").Scene|null}}} chart ``displayed``:
 *   returns the data of the chart on screen, null before the first drawing
 * @returns {import("./gestures.js").Hand & {xUnder: (px: number) => number|null}}
 */
export function createHand({ area, probe: focusable }, probe, { displayed, ...acts }) {
  const toChartPx = (/** @type {number} */ px) => px - area.getBoundingClientRect().left;

  /** Convert a window position in px to a fraction of the panels' width, 0.5 before a drawing. @param {number} px */
  function share(px) {
    const { scene } = displayed();
    return scene ? toPanelFraction(scene.frame, toChartPx(px)) : 0.5;
  }

  /** Return the x at a horizontal window position in px, or null before the first drawing. @param {number} px */
  function xUnder(px) {
    const { picture, scene } = displayed();
    return scene && picture && findPointedX(picture.curves, scene.frame, toChartPx(px));
  }

  /** Pin the probe at the x under a window position. If it is pinned there already, unpin it. @param {number} px */
  function pin(px) {
    focusable.focus({ preventScroll: true });
    const x = xUnder(px);
    probe.pin(x === probe.pinned() ? null : x);
  }

  const point = (/** @type {number|null} */ px) => probe.point(px === null ? null : xUnder(px));
  return { ...acts, share, xUnder, onPoint: point, onPin: pin };
}
