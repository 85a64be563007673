// The pointer over a chart: its position as x and as a share of the width.

import { shareOf } from "../scene/panels.js";
import { findPointedX } from "../probe/probe-marks.js";

/**
 * Create the callbacks of gestures on a chart.
 * @param {import("./parts.js").Parts} parts
 * @param {ReturnType<typeof import("../probe/probe.js").createProbe>} probe
 * @param {Pick<import("./gestures.js").Hand, "view"|"onView"|"onReset"|"pencil"> & {displayed: () => {
 *   picture: import("../scene/picture.js").Picture|null, scene: import("../scene/scene.js").Scene|null}}} chart
 * @returns {import("./gestures.js").Hand & {xUnder: (px: number) => number|null}}
 */
export function createHand({ area, probe: focusable }, probe, { displayed, ...acts }) {
  const toChartPx = (/** @type {number} */ px) => px - area.getBoundingClientRect().left;

  /** Return the position of a px of the window as a share of the width. @param {number} px */
  function share(px) {
    const { scene } = displayed();
    return scene ? shareOf(scene.frame, toChartPx(px)) : 0.5;
  }

  /** Return the x under a px of the window, or null before the first drawing. @param {number} px */
  function xUnder(px) {
    const { picture, scene } = displayed();
    return scene && picture && findPointedX(picture.curves, scene.frame, toChartPx(px));
  }

  /** Pin the probe, or unpin it if it is pinned at this x. @param {number} px of the window */
  function pin(px) {
    focusable.focus({ preventScroll: true });
    const x = xUnder(px);
    probe.pin(x === probe.pinned() ? null : x);
  }

  const point = (/** @type {number|null} */ px) => probe.point(px === null ? null : xUnder(px));
  return { ...acts, share, xUnder, onPoint: point, onPin: pin };
}
