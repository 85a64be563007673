// The view model of a run's history: its slider and the actions at the displayed step.

import { countLinkedBranches } from "../../choice/address.js";
import { pointText, parseBranches, rateAt } from "../state/branches.js";
import { getRuleKeys, getDisplayableSteps } from "../state/history.js";
import { getSetting, getSelectedTask } from "../state/tasks.js";

/** @import { State } from "../state/state.js" */
/**
 * The contents of a run's history. ``steps``: the steps that can be displayed; ``step``: the displayed one; ``most``:
 * the last one; ``isBack``: whether an earlier step is displayed; ``points``: the branch points of the run or, without
 * a run, of the settings; ``chosen``: whether the settings have branch points; ``spikes``: whether the units spike;
 * ``unsaid``: a note on branch points that do not fit into the link, or "".
 * @typedef {{steps: number[], step: number, most: number, isBack: boolean, lr: string, lines:
 *   import("../state/series.js").LegendEntry[], points: {step: number, text: string}[], chosen: boolean, spikes:
 *   boolean, hasRun: boolean, unsaid: string}} Time
 */

/**
 * Return the contents of the run's history.
 * @param {State} state @param {import("../state/series.js").LegendEntry[]} lines @returns {Time}
 */
export function buildHistoryView(state, lines) {
  const { at, choice, trained, view } = state;
  const { status } = view;
  const text = status.recorded && trained ? status.recorded.branch : choice.training.branch;
  const points = parseBranches(text, getRuleKeys(trained ?? choice));
  return {
    steps: getDisplayableSteps(state),
    step: at ?? status.step,
    most: status.steps || Number(getSetting(choice, "steps")),
    isBack: at !== null,
    lr: rateAt(points, at ?? status.step, getSetting(choice, "lr")),
    lines,
    spikes: getSelectedTask(trained ?? choice).site.fires,
    points: points.map((point) => ({ step: point.step, text: pointText(point) })),
    unsaid: describeLinkLimit(choice),
    chosen: choice.training.branch !== undefined,
    hasRun: Boolean(trained && status.snapshot),
  };
}

/**
 * Return a note if some branch points do not fit into the link of the page, otherwise "".
 * @param {State["choice"]} choice
 */
export function describeLinkLimit(choice) {
  const count = (choice.training.branch ?? "").split("\n").filter(Boolean).length;
  const linked = count && countLinkedBranches(choice);
  if (linked === count) return "";
  const fitting = linked
    ? `only the last ${linked} of ${count} branch points fit`
    : "none of the branch points fits";
  return `The link is full: ${fitting}. Take away the settings to have all.`;
}
