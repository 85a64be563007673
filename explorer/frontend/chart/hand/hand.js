// Converts the position of the pointer over a chart to an x and to a fraction of the chart's width.

import { toPanelFraction } from "../scene/panels.js";
import { findPointedX } from "../probe/probe-marks.js";

/**
 * Create the callbacks that the chart's gestures call.
 * @param {import("./parts.js").Parts} parts @param {ReturnType<typeof import("../probe/probe.js").createProbe>} probe
 * @param {Pick<import("./gestures.js").Hand, "view"|"onView"|"onReset"|"pencil"> & {displayed: () => { picture:
 *   import("../scene/picture.js").Picture|null, scene: import("../scene/scene.js").Scene|null}}} chart
 * @returns {import("./gestures.js").Hand & {xUnder: (px: number) => number|null}}
 */
export function createHand({ area, probe: focusable }, probe, { displayed, ...acts }) {
  const toChartPx = (/** @type {number} */ px) => px - area.getBoundingClientRect().left;

  /** Convert a horizontal window position to a fraction of the width of the chart's panels. @param {number} px */
  function share(px) {
    const { scene } = displayed();
    return scene ? toPanelFraction(scene.frame, toChartPx(px)) : 0.5;
  }

  /** Return the x value at a horizontal window position, or null before the chart is first drawn. @param {number} px */
  function xUnder(px) {
    const { picture, scene } = displayed();
    return scene && picture && findPointedX(picture.curves, scene.frame, toChartPx(px));
  }

  /**
   * Pin the probe at a window position, or unpin it if it is already pinned at that x.
   * @param {number} px of the window
   */
  function pin(px) {
    focusable.focus({ preventScroll: true });
    const x = xUnder(px);
    probe.pin(x === probe.pinned() ? null : x);
  }

  const point = (/** @type {number|null} */ px) => probe.point(px === null ? null : xUnder(px));
  return { ...acts, share, xUnder, onPoint: point, onPin: pin };
}
