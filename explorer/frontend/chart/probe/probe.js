// The probe of a chart: marks and readout at the x under the pointer, else at the pinned one.

import { setAttribute } from "../../elements/dom.js";
import { roundToUnit } from "../../formula/numbers.js";
import { labelShapes } from "./labels.js";
import { valuesAt } from "./probe-values.js";
import { probeShapes } from "./probe-marks.js";
import { createReadout, spoken } from "./readout.js";

const REST = 0.78; // of the view: where a point lies that nobody has moved

/**
 * @param {{marks: SVGElement, probe: HTMLElement}} parts the host of its marks, and the element with its keyboard focus
 * @param {{onProbe?: (x: number|null) => void, isLabelled?: () => boolean, onDrawn?: (values: import("./probe-values.js").Values|null,
 *   frame: import("../scene/panels.js").Frame|undefined) => void}} options ``isLabelled``: whether there always is a point, with
 *   labels in place of a legend; ``onDrawn`` gets its values then, else null
 */
export function createProbe({ marks, probe }, { onProbe, isLabelled = () => false, onDrawn }) {
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
    const labelled = isLabelled();
    const x = pointed ?? (labelled ? restingAt(picture.range, pinned) : pinned);
    const values = x === null ? null : valuesAt(picture, x);
    const curves = scene?.lines.filter(({ under, over }) => !under && !over) ?? [];
    const shapesOf = labelled ? [probeShapes, labelShapes] : [probeShapes];
    const { frame } = scene ?? {};
    const { g } = picture;
    marks.replaceChildren(
      ...(values && frame ? shapesOf.flatMap((make) => make(values, curves, frame, g)) : []),
    );
    onDrawn?.(labelled ? values : null, frame);
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

/** The x of a point that is always in view: the pinned one, or else its own place. @param {[number, number]} view @param {number|null} pinned */
function restingAt([start, stop], pinned) {
  if (pinned !== null && pinned >= start && pinned <= stop) return pinned;
  return roundToUnit(start + REST * (stop - start), (stop - start) / 200);
}
