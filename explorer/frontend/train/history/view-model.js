// The view model of a training run's history: its slider, the actions at the displayed step, and earlier runs.

import { countLinkedBranches } from "../../choice/address.js";
import { pointText, parseBranches, rateAt } from "../state/branches.js";
import { getRuleKeys, getDisplayableSteps } from "../state/history.js";
import { findComparable } from "../state/state.js";
import { describeFirstDifference, getSetting, getSelectedTask } from "../state/tasks.js";

/** @import { State } from "../state/state.js" */
/**
 * The history: ``steps`` can be displayed, ``step`` is displayed, ``most`` is the last step; ``points`` are the branch
 * points of the run, or of the choice without a run; ``chosen`` says whether the choice has branch points, ``spikes``
 * whether units spike; ``ghosts`` are the earlier runs.
 * @typedef {{steps: number[], step: number, most: number, isBack: boolean, lr: string,
 *   lines: import("../state/series.js").LegendEntry[], points: {step: number, text: string}[], chosen: boolean, spikes: boolean,
 *   ghosts: {number: number, text: string}[], hasRun: boolean, unsaid: string}} Time ``unsaid`` is a note on branch
 * points that do not fit into the link
 */

/**
 * Build the data of the history view: steps to display, branch points and earlier runs.
 * @param {State} state
 * @param {import("../state/series.js").LegendEntry[]} lines
 * @returns {Time}
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
    ghosts: findComparable(state).map((ghost) => ({
      number: ghost.number,
      text: describeEarlierRun(ghost, choice),
    })),
    hasRun: Boolean(trained && status.snapshot),
  };
}

/**
 * Describe an earlier training run: how it differs from the current settings, and why it ended.
 * @param {import("../state/state.js").PastRun} past
 * @param {State["choice"]} now
 */
function describeEarlierRun({ choice, name }, now) {
  const difference = describeFirstDifference(choice, now);
  return difference ? `${difference}, ${name}` : name;
}

/** Explain that some branch points do not fit into the page's link, or return "". @param {State["choice"]} choice */
export function describeLinkLimit(choice) {
  const count = (choice.training.branch ?? "").split("\n").filter(Boolean).length;
  const linked = countLinkedBranches(choice);
  if (linked === count) return "";
  const fitting = linked
    ? `only the last ${linked} of ${count} branch points fit`
    : "none of the branch points fits";
  return `The link is full: ${fitting}. Take away the settings to have all.`;
}
