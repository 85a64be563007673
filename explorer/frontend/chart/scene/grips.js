// Parameters that can be dragged along the chart's x axis, because they set the position of a kink, such as lo and hi.

import { toLeftPx } from "./panels.js";
import { getEntryControls, getDisplayName, getControlValue } from "../../formula/controls.js";

/**
 * The handle of a parameter, at x = ``sign`` · ``value``.
 * @typedef {{id: string, name: string, label: string, sign: number, value: number, colour: string}} Grip
 */

export const GRIP_PX = 24; // the diameter of a handle

/**
 * List the handles of all parameters that set the position of a kink: one for each sign with which a parameter does.
 * @param {import("./picture.js").Picture} picture @returns {Grip[]}
 */
export function listGrips({ op, rules, parameters, neutral }) {
  const entries = rules.map((rule) => rule.entry);
  const visible = rules.filter((rule) => !rule.hidden).map(({ entry, colour }) => ({ entry, colour }));
  const grips = [{ entry: op, colour: neutral }, ...visible].flatMap(({ entry, colour }) => {
    const controls = getEntryControls(entry, op, entries);
    return entry.movable.map(({ name, sign }) => {
      const control = controls[entry.parameters.findIndex((parameter) => parameter.name === name)];
      const displayName = getDisplayName(control.parameter);
      const label = [`${sign < 0 ? "−" : ""}${displayName}`, control.parameter.meaning]
        .filter(Boolean)
        .join(", ");
      const value = getControlValue(parameters, control);
      return { id: `${sign} ${control.name}`, name: control.name, label, sign, value, colour };
    });
  });
  return [...new Map(grips.reverse().map((grip) => [grip.id, grip])).values()].reverse();
}

/**
 * Return the visible handles. ``px``: the position of the kink; ``aside``: the handle's distance from it in px, since
 * handles at the same kink are next to each other.
 * @param {Grip[]} grips @param {import("./panels.js").Frame} frame
 */
export function placeGrips(grips, frame) {
  const [start, stop] = frame.x;
  const inView = grips.filter(({ sign, value }) => sign * value >= start && sign * value <= stop);
  const places = inView.map(({ sign, value }) => toLeftPx(frame, sign * value));
  return inView.map((grip, index) => {
    const px = places[index];
    const others = places.slice(0, index).filter((other) => Math.abs(other - px) < GRIP_PX).length;
    const inwards = px > frame.left + frame.inner / 2 ? -1 : 1;
    return { grip, px, aside: (GRIP_PX + 2) * others * inwards };
  });
}
