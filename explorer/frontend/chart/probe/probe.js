// The probe of a chart: marks and readout at the x under the pointer, else at the pinned one.

import { setAttribute } from "../../elements/dom.js";
import { valuesAt } from "./probe-values.js";
import { probeShapes } from "./probe-marks.js";
import { createReadout, spoken } from "./readout.js";

/**
 * @param {{marks: SVGElement, probe: HTMLElement}} parts the host of its marks, and the element with its keyboard focus
 * @param {(x: number|null) => void} [onProbe]
 */
export function createProbe({ marks, probe }, onProbe) {
  const readout = createReadout(pin);
  let pinned = /** @type {number|null} */ (null);
  let pointed = /** @type {number|null} */ (null);
  let picture = /** @type {import("../scene/picture.js").Picture|null} */ (null);
  let scene = /** @type {import("../scene/scene.js").Scene|null} */ (null);

  /** @param {number|null} x */
  function point(x) {
    pointed = x;
    draw();
    onProbe?.(x ?? pinned);
  }

  /** @param {number|null} x */
  function pin(x) {
    pinned = x;
    point(null);
  }

  function draw() {
    if (!picture) return;
    const x = pointed ?? pinned;
    const values = x === null ? null : valuesAt(picture, x);
    const curves = scene?.lines.filter(({ under }) => !under) ?? [];
    marks.replaceChildren(...(values && scene ? probeShapes(values, curves, scene.frame, picture.g) : []));
    readout.show(picture, values);
    setAttribute(probe, "aria-valuemin", picture.range[0]);
    setAttribute(probe, "aria-valuemax", picture.range[1]);
    setAttribute(probe, "aria-valuenow", x ?? picture.range[0]);
    setAttribute(probe, "aria-valuetext", values ? spoken(picture, values) : "no x chosen");
  }

  return {
    readout: readout.element,
    point,
    pin,
    pinned: () => pinned,
    /** @param {import("../scene/picture.js").Picture} next @param {import("../scene/scene.js").Scene|null} drawn */
    show(next, drawn) {
      picture = next;
      scene = drawn;
      draw();
    },
  };
}
