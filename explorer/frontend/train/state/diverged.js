// Rules of which no net is left: all of them diverged.

/** @import { Snapshot } from "./records.js" */
/**
 * Whether every net of a rule diverged.
 * @param {Snapshot|null} snapshot null before the first one
 * @param {import("./series.js").LegendEntry} line
 */
export function isLost(snapshot, { key }) {
  return typeof snapshot?.diverged[key] === "number";
}
