// The layer and the net that the area "Why" shows.

import { getSetting, getSelectedTask } from "./tasks.js";

/** @import { LegendEntry } from "./series.js" */
/** @import { State } from "./state.js" */

/**
 * Return the number of layers with an op, their names, and the index of the displayed one, by default the last.
 * @param {State} state
 */
export function getLayerChoice({ choice, view, layer }) {
  const { site } = getSelectedTask(choice);
  const measured = Object.values(view.status.snapshot?.measured.alignment ?? {}).find(Boolean);
  const declared = getSetting(choice, "hidden").split(",").length + Number(site.output);
  const count = measured?.cosines.length ?? declared;
  const names = Array.from({ length: count }, (_, at) => `${site.per_example ? "after " : ""}w${at + 1}`);
  return { count, names, chosen: Math.min(layer ?? count - 1, count - 1) };
}

/**
 * Return whether all nets of a rule have diverged.
 * @param {import("./records.js").Snapshot|null} snapshot the latest snapshot, or null before the first step
 * @param {LegendEntry} line
 */
export function isLost(snapshot, { key }) {
  return typeof snapshot?.diverged[key] === "number";
}

/**
 * Describe which seeds' nets are shown. Returns "" if there is only one seed, or no net.
 * @param {State} state @param {LegendEntry[]} lines
 */
export function describeNets({ view }, lines) {
  const { snapshot } = view.status;
  if (!snapshot || snapshot.seeds === 1) return "";
  const seeds = lines.map(({ key }) => snapshot.seed[key]).filter((seed) => typeof seed === "number");
  const [first] = seeds;
  if (first === undefined) return "";
  if (seeds.every((seed) => seed === first)) return `Pictures of seed ${first}`;
  const named = lines.flatMap(({ key, label }) =>
    typeof snapshot.seed[key] === "number" && snapshot.seed[key] !== Math.min(...seeds)
      ? [`${label} of seed ${snapshot.seed[key]}`]
      : [],
  );
  return `Pictures of seed ${Math.min(...seeds)}; ${named.join(", ")}: the first that is finite`;
}
