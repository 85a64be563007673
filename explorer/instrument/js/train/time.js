// The time machine as it is shown: the scrubber, what can be done from its step, and earlier runs. No page.

import { pointText, pointsOf } from "./branches.js";
import { keysOf, stepsSeen } from "./past.js";
import { comparable } from "./state.js";
import { settingText } from "./tasks.js";

/** @typedef {import("./state.js").State} State */
/**
 * ``steps`` can be looked at, ``step`` is, of ``most``; ``points`` are the branch points of the run, or of what
 * is chosen where there is none; ``ghosts`` are the earlier runs, by letter.
 * @typedef {{steps: number[], step: number, most: number, isBack: boolean, lr: string,
 *   lanes: import("./series.js").Lane[], points: {step: number, text: string}[], chosen: boolean,
 *   ghosts: {letter: string, text: string}[], hasRun: boolean}} Time
 */

/** @param {State} state @param {import("./series.js").Lane[]} lanes @returns {Time} */
export function timeOf(state, lanes) {
  const { at, choice, trained, view } = state;
  const { status } = view;
  const text = status.recorded && trained ? status.recorded.branch : choice.training.branch;
  return {
    steps: stepsSeen(state),
    step: at ?? status.step,
    most: status.steps || Number(settingText(choice, "steps")),
    isBack: at !== null,
    lr: settingText(choice, "lr"),
    lanes,
    points: pointsOf(text, keysOf(trained ?? choice)).map((point) => ({
      step: point.step,
      text: pointText(point),
    })),
    chosen: choice.training.branch !== undefined,
    ghosts: comparable(state).map(({ letter, name }) => ({ letter, text: name })),
    hasRun: Boolean(trained && status.snapshot),
  };
}
