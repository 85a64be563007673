// The history of a run: the displayed step and its branch points.

import { parseBranches, rateAt, hasSamePoints, withPoints } from "./branches.js";
import { UNAVAILABLE, OVER } from "./status.js";
import { getLiveSettings, getSetting, withSetting } from "./tasks.js";

/** @import { State } from "./state.js" */

/**
 * Return the steps that can be displayed, in ascending order: the checkpoints and the present step.
 * @param {State} state
 */
export function getDisplayableSteps({ view: { status } }) {
  const checkpoints = status.snapshot?.checkpoints ?? [];
  return [...checkpoints.filter((step) => step < status.step), ...(status.snapshot ? [status.step] : [])];
}

/**
 * Return the step nearest to a wanted one, or null without steps. On a tie, the first one in the list is returned.
 * @param {number[]} steps @param {number} wanted
 */
export function findNearest(steps, wanted) {
  return steps.reduce(
    (best, step) => (best === null || Math.abs(step - wanted) < Math.abs(best - wanted) ? step : best),
    /** @type {number|null} */ (null),
  );
}

/**
 * Return the checkpoint to display for a wanted step, or null for the present step.
 * @param {State} state @param {number} wanted
 */
export function findDisplayedStep(state, wanted) {
  const step = findNearest(getDisplayableSteps(state), wanted);
  return step === null || step >= state.view.status.step ? null : step;
}

/**
 * Return the change of state that displays the nearest checkpoint in place of a deleted one.
 * @param {State} state @param {import("./status.js").Status} displayed the status at that checkpoint
 * @returns {Partial<State>}
 */
export function replaceStep({ at, view }, displayed) {
  const isLast = displayed.step >= view.status.step;
  const remark = `Step ${at} is no longer kept: ${displayed.step} is the nearest.`;
  return isLast ? { at: null, displayed: null, remark } : { at: displayed.step, displayed, remark };
}

/** Return the state of the page with the run's status at the displayed step. @param {State} state @returns {State} */
export function toDisplayedState(state) {
  const { at, displayed, view } = state;
  if (at === null || !displayed) return state;
  const { steps_per_second: _, ...rest } = view.status;
  const { snapshot, conclusion, judged, lines, headline, step } = displayed;
  const status = { ...rest, steps_per_second: 0, snapshot, conclusion, judged, lines, headline, step };
  return { ...state, view: { ...view, status } };
}

/**
 * Return the settings of the run, including all changes made during training.
 * @param {State} state @returns {State["choice"]}
 */
export function getRecordedChoice({ trained, choice, view: { status } }) {
  const live = Object.entries(getLiveSettings(choice)).filter(([name]) => name !== "lr");
  const base = live.reduce((one, [name, text]) => withSetting(one, name, text), trained ?? choice);
  if (!status.recorded) return base;
  const { lr, branch } = status.recorded;
  return withPoints(withSetting(base, "lr", lr), parseBranches(branch, getRuleKeys(base)));
}

/** Return whether a run has begun and not ended, so that its learning rate can change. @param {State} state */
export function isUnderway({ view: { status } }) {
  return status.step > 0 && !["idle", ...OVER, ...UNAVAILABLE].includes(status.state);
}

/** Return the learning rate to display: the one just set, or that of the run. @param {State} state */
export function getShownRate(state) {
  const { rate, choice, view } = state;
  const start = getSetting(choice, "lr");
  if (rate !== null) return rate;
  return isUnderway(state) ? rateAt(getPoints(choice), view.status.step, start) : start;
}

/**
 * Return the settings of the page with the changes that the run has recorded. Returns null without changes, or as long
 * as the last change is not recorded.
 * @param {State} state @returns {State["choice"]|null}
 */
export function mergeRecorded(state) {
  const { rate, choice, view } = state;
  const { recorded, step, id } = view.status;
  const isOver = OVER.includes(view.status.state);
  if (!recorded || id !== view.id || !(isUnderway(state) || (isOver && rate !== null))) return null;
  const latest = getRecordedChoice(state);
  const start = getSetting(latest, "lr");
  const isHeard = rate === null || Number(rateAt(getPoints(latest), step, start)) === Number(rate);
  if (!isHeard && !isOver && !view.notice) return null;
  const isSame =
    hasSamePoints(getPoints(latest), getPoints(choice)) && Number(start) === Number(getSetting(choice, "lr"));
  if (isSame) return rate === null ? null : choice;
  return latest;
}

/** Return the branch points of the page's settings. @param {State["choice"]} choice */
export function getPoints(choice) {
  return parseBranches(choice.training.branch, getRuleKeys(choice));
}

/** Return the keys of the selected backward rules. @param {State["choice"]} choice */
export function getRuleKeys({ rules }) {
  return rules.map(({ key }) => key);
}
