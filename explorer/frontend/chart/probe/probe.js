// The probe of a chart: it shows the values of all curves at the x under the pointer, or at a pinned x.

import { setAttribute } from "../../elements/dom.js";
import { roundToUnit } from "../../formula/numbers.js";
import { drawLabels } from "./labels.js";
import { computeValues } from "./probe-values.js";
import { drawProbe } from "./probe-marks.js";
import { createReadout, describeProbe } from "./readout.js";

const DEFAULT_SHARE = 0.78; // where the probe is by default, as a fraction of the chart's width

/**
 * Create the probe, which shows the values of all curves at the x that the user points at.
 * @param {{marks: SVGElement, probe: HTMLElement}} parts the SVG group for its marks, and the element to focus
 * @param {{onProbe?: (x: number|null) => void, isLabelled?: () => boolean, onDrawn?: (values:
 *   import("./probe-values.js").Values|null, frame: import("../scene/panels.js").Frame|undefined) => void}} options
 *   ``onProbe``: called with the x of the probe, or null; ``isLabelled``: whether the probe is always visible, with
 *   labels instead of a legend; ``onDrawn``: called with its values in that case, otherwise with null
 */
export function createProbe({ marks, probe }, { onProbe, isLabelled = () => false, onDrawn }) {
  const readout = createReadout(pin);
  let pinned = /** @type {number|null} */ (null);
  let pointed = /** @type {number|null} */ (null);
  let picture = /** @type {import("../scene/picture.js").Picture|null} */ (null);
  let scene = /** @type {import("../scene/scene.js").Scene|null} */ (null);

  /** Move the probe to the x under the pointer or, with null, back to the pinned x. @param {number|null} x */
  function point(x) {
    pointed = x;
    draw();
    onProbe?.(x ?? pinned);
  }

  /** Pin the probe to an x, or unpin it with null. @param {number|null} x */
  function pin(x) {
    pinned = x;
    point(null);
  }

  function draw() {
    if (!picture) return;
    const labelled = isLabelled();
    const x = pointed ?? (labelled ? choosePoint(picture.range, pinned) : pinned);
    const values = x === null ? null : computeValues(picture, x);
    const curves = scene?.lines.filter(({ under, over }) => !under && !over) ?? [];
    const shapesOf = labelled ? [drawProbe, drawLabels] : [drawProbe];
    const { frame } = scene ?? {};
    const { g, sketches } = picture;
    const around = { grips: scene?.grips ?? [], sketches };
    marks.replaceChildren(
      ...(values && frame ? shapesOf.flatMap((make) => make(values, curves, frame, g, around)) : []),
    );
    onDrawn?.(labelled ? values : null, frame);
    readout.show(picture, values);
    setAttribute(probe, "aria-valuemin", picture.range[0]);
    setAttribute(probe, "aria-valuemax", picture.range[1]);
    setAttribute(probe, "aria-valuenow", x ?? picture.range[0]);
    setAttribute(probe, "aria-valuetext", values ? describeProbe(picture, values) : "no x chosen");
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

/** @param {[number, number]} view @param {number|null} pinned the pinned x, or null */
function choosePoint([start, stop], pinned) {
  if (pinned !== null && pinned >= start && pinned <= stop) return pinned;
  return roundToUnit(start + DEFAULT_SHARE * (stop - start), (stop - start) / 200);
}
