// The view model of the history: the scrubber, the actions at its step, and earlier runs. No page.

import { countLinkedBranches } from "../../choice/address.js";
import { pointText, pointsOf, rateAt } from "../state/branches.js";
import { keysOf, stepsToDisplay } from "../state/history.js";
import { comparable } from "../state/state.js";
import { differenceOf, settingText, taskOf } from "../state/tasks.js";

/** @import { State } from "../state/state.js" */
/**
 * ``steps`` can be looked at, ``step`` is, of ``most``; ``points`` are the branch points of the run, or of what
 * is chosen where there is none; ``ghosts`` are the earlier runs, by number; ``spikes``: whether the units do.
 * @typedef {{steps: number[], step: number, most: number, isBack: boolean, lr: string,
 *   lines: import("../state/series.js").LegendEntry[], points: {step: number, text: string}[], chosen: boolean, spikes: boolean,
 *   ghosts: {number: number, text: string}[], hasRun: boolean, unsaid: string}} Time ``unsaid`` says what does
 * not stand in the link
 */

/** @param {State} state @param {import("../state/series.js").LegendEntry[]} lines @returns {Time} */
export function timeOf(state, lines) {
  const { at, choice, trained, view } = state;
  const { status } = view;
  const text = status.recorded && trained ? status.recorded.branch : choice.training.branch;
  const points = pointsOf(text, keysOf(trained ?? choice));
  return {
    steps: stepsToDisplay(state),
    step: at ?? status.step,
    most: status.steps || Number(settingText(choice, "steps")),
    isBack: at !== null,
    lr: rateAt(points, at ?? status.step, settingText(choice, "lr")),
    lines,
    spikes: taskOf(trained ?? choice).site.fires,
    points: points.map((point) => ({ step: point.step, text: pointText(point) })),
    unsaid: unsaidOf(choice),
    chosen: choice.training.branch !== undefined,
    ghosts: comparable(state).map((ghost) => ({ number: ghost.number, text: nameOf(ghost, choice) })),
    hasRun: Boolean(trained && status.snapshot),
  };
}

/** An earlier run in words: its difference and why it is over. @param {import("../state/state.js").Past} past @param {State["choice"]} now */
function nameOf({ choice, name }, now) {
  const difference = differenceOf(choice, now);
  return difference ? `${difference}, ${name}` : name;
}

/** A note on branch points that are too long for the link. @param {State["choice"]} choice */
export function unsaidOf(choice) {
  const count = (choice.training.branch ?? "").split("\n").filter(Boolean).length;
  const linked = countLinkedBranches(choice);
  if (linked === count) return "";
  const which = linked
    ? `only the last ${linked} of ${count} branch points fit`
    : "none of the branch points fits";
  return `The link is full: ${which}. Take away the settings to have all.`;
}
