// Contents of the chart of alignment, which compares each rule's gradient with that of the net smoothed by noise.

import { VALUES } from "../charts/axes.js";
import { isLost, getLayerChoice } from "../state/layers.js";
import { findInstrument } from "../state/instruments.js";
import { makeAlignmentSeries, describeEnds } from "../state/series.js";
import { getSetting } from "../state/tasks.js";

/** @import { Snapshot } from "../state/records.js" */
/** @import { LegendEntry, Series } from "../state/series.js" */
/** @import { AlignmentMeasure, State } from "../state/state.js" */
/**
 * The chart of alignment with the texts around it. ``kinds``: the measures to choose from; ``missing``: why nothing was
 * measured, or ""; ``note``: how values are averaged, and which rules have no curve.
 * @typedef {{title: string, sentence: string, limits: string, missing: string, note: string, kinds: {options: {value:
 *   AlignmentMeasure, label: string}[], chosen: AlignmentMeasure}, chart: import("../charts/chart.js").Picture}}
 *   Alignment
 */

const KINDS = /** @type {{value: AlignmentMeasure, label: string}[]} */ ([
  { value: "cosines", label: "Cosine" },
  { value: "agreements", label: "Signs" },
]);
const SCALES = /** @type {{[kind in AlignmentMeasure]: import("../charts/axes.js").Scale}} */ ({
  cosines: { kind: "cosine", title: "", chance: null },
  agreements: { kind: "share", title: "", chance: null },
});

/**
 * Return the contents of the chart of alignment.
 * @param {State} state @param {LegendEntry[]} lines @returns {Alignment}
 */
export function buildAlignmentChart(state, lines) {
  const { view, aligned } = state;
  const { snapshot, steps } = view.status;
  const { label, sentence, limits, window } = findInstrument("alignment");
  const { chosen: layer, count, names } = getLayerChoice(state);
  const series = snapshot ? makeAlignmentSeries(aligned, layer, snapshot, lines, window) : [];
  const missing = snapshot?.unmeasured.alignment ?? "";
  const title = `Why: ${label.toLowerCase()}${count > 1 ? `, ${names[layer]}` : ""}`;
  const averaging = missing ? "" : `Mean of the last ${window} measures.`;
  return {
    title,
    sentence,
    limits,
    missing,
    note: [describeMissing(series, lines, snapshot), averaging].filter(Boolean).join(" "),
    kinds: { options: KINDS, chosen: aligned },
    chart: {
      run: `${view.id} ${aligned} ${layer}`,
      scale: SCALES[aligned],
      series,
      steps: steps || Number(getSetting(state.choice, "steps")),
      words: [`${title}, over steps.`, averaging, describeEnds(series)].join(" "),
      empty: explainEmptyChart(series, lines, snapshot),
      legend: "",
    },
  };
}

/** @param {Series[]} series @param {LegendEntry[]} lines @param {Snapshot|null} snapshot null before the first step */
function explainEmptyChart(series, lines, snapshot) {
  if (series.length) return "No gradient to compare";
  const isAllLost = lines.every((line) => isLost(snapshot, line));
  return isAllLost ? "Every rule has diverged" : "Nothing before the first step";
}

/**
 * Name the rules that have no gradient to compare. Returns "" if all have one.
 * @param {Series[]} series @param {LegendEntry[]} lines @param {Snapshot|null} snapshot null before the first step
 */
function describeMissing(series, lines, snapshot) {
  if (!series.length || !snapshot?.measured_steps.length) return "";
  const present = new Set(series.filter(({ y }) => Number.isFinite(y[y.length - 1])).map(({ rule }) => rule));
  const missing = lines.filter(({ key }) => !present.has(key) && series.some(({ rule }) => rule === key));
  return missing.length ? `No gradient: ${missing.map(({ label }) => label).join(", ")}.` : "";
}

/**
 * Return each rule's last value as text, like the label of its curve. Rules without a finite value are left out.
 * @param {import("../charts/chart.js").Picture} chart @returns {Record<string, string>}
 */
export function formatValues({ series, scale }) {
  const finite = series.filter(({ y }) => Number.isFinite(y[y.length - 1]));
  return Object.fromEntries(finite.map(({ rule, y }) => [rule, VALUES[scale.kind](y[y.length - 1])]));
}
