// Draggable points of the chart, for kinks whose x is a parameter such as lo or hi.

import { getEntryControls, getDisplayName, getControlValue } from "../../formula/controls.js";

/** @typedef {{id: string, name: string, label: string, sign: number, value: number, colour: string}} Grip */

/**
 * Return a draggable handle for each parameter that determines a kink, one for each sign of x.
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
