// What is seen of a run's past: the step that is looked at, and the lines of earlier runs. No page.

import { branchedAt, pointsOf, withPoints } from "./branches.js";
import { withSetting } from "./tasks.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Past} Past */
/** @typedef {import("./branches.js").Point} Point */

const MOST = 3; // earlier runs whose lines stay
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** The steps that can be looked at, ascending: those kept, and where the run is. @param {State} state */
export function stepsSeen({ view: { status } }) {
  const kept = /** @type {number[]} */ (status.snapshot?.kept ?? []);
  return [...kept.filter((step) => step < status.step), ...(status.snapshot ? [status.step] : [])];
}

/**
 * The nearest of some steps, the earlier one of two; null where there is none.
 * @param {number[]} steps
 * @param {number} wanted
 */
export function nearest(steps, wanted) {
  return steps.reduce(
    (best, step) => (best === null || Math.abs(step - wanted) < Math.abs(best - wanted) ? step : best),
    /** @type {number|null} */ (null),
  );
}

/**
 * The step that is looked at, as somebody asked for ``wanted``; null is where the run is.
 * @param {State} state
 * @param {number} wanted
 */
export function lookedAt(state, wanted) {
  const step = nearest(stepsSeen(state), wanted);
  return step === null || step >= state.view.status.step ? null : step;
}

/** The state as it was at the step that is looked at. @param {State} state @returns {State} */
export function scrubbed(state) {
  const { at, seen, view } = state;
  if (at === null || !seen) return state;
  const { steps_per_second: _, ...rest } = view.status;
  const { snapshot, words, judged, step } = seen;
  return {
    ...state,
    view: { ...view, status: { ...rest, steps_per_second: 0, snapshot, words, judged, step } },
  };
}

/**
 * The choice of a run with all that was changed on its way.
 * @param {State} state
 * @returns {State["choice"]}
 */
export function recordedChoice({ trained, choice, view: { status } }) {
  const known = trained ?? choice;
  if (!status.recorded) return known;
  const { lr, branch } = status.recorded;
  return withPoints(withSetting(known, "lr", lr), pointsOf(branch, keysOf(known)));
}

/** @param {State["choice"]} choice @param {Point} point */
export function branchedChoice(choice, point) {
  return withPoints(choice, branchedAt(pointsOf(choice.training.branch, keysOf(choice)), point));
}

/** @param {State["choice"]} choice */
export function keysOf({ rules }) {
  return rules.map(({ key }) => key);
}

/**
 * The lines of the present run stay as those of an earlier one; of too many the oldest go.
 * @param {State} state
 * @param {string} name
 * @returns {Past[]}
 */
export function withPast({ ghosts, trained, choice, view: { status } }, name) {
  if (!status.snapshot) return ghosts;
  const taken = ghosts.map(({ letter }) => letter);
  const letter = [...LETTERS].find((each) => !taken.includes(each)) ?? "";
  const { snapshot, recorded } = status;
  return [...ghosts, { choice: trained ?? choice, snapshot, recorded, name, letter }].slice(-MOST);
}
