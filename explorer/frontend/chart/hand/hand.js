// The hand over a chart: its position as x and as a part of the width.

import { shareOf } from "../scene/panels.js";
import { pointedX } from "../probe/probe-marks.js";

/**
 * @param {import("./parts.js").Parts} parts
 * @param {ReturnType<typeof import("../probe/probe.js").createProbe>} probe
 * @param {Pick<import("./gestures.js").Hand, "view"|"onView"|"onReset"|"pencil"> & {displayed: () => {
 *   picture: import("../scene/picture.js").Picture|null, scene: import("../scene/scene.js").Scene|null}}} chart
 * @returns {import("./gestures.js").Hand & {xUnder: (px: number) => number|null}}
 */
export function handOf({ area, probe: focusable }, probe, { displayed, ...acts }) {
  const local = (/** @type {number} */ px) => px - area.getBoundingClientRect().left;

  /** @param {number} px of the window */
  function share(px) {
    const { scene } = displayed();
    return scene ? shareOf(scene.frame, local(px)) : 0.5;
  }

  /** The x under a px of the window; null while nothing is drawn. @param {number} px */
  function xUnder(px) {
    const { picture, scene } = displayed();
    return scene && picture && pointedX(picture.curves, scene.frame, local(px));
  }

  /** Pin the probe, or free it where it is pinned. @param {number} px of the window */
  function pin(px) {
    focusable.focus({ preventScroll: true });
    const x = xUnder(px);
    probe.pin(x === probe.pinned() ? null : x);
  }

  const point = (/** @type {number|null} */ px) => probe.point(px === null ? null : xUnder(px));
  return { ...acts, share, xUnder, onPoint: point, onPin: pin };
}
