// The past of a run: the step that is displayed, and the lines of earlier runs. No page.

import { findEntry } from "../../choice/entries.js";
import { branchedAt, pointsOf, rateAt, saysSame, withPoints } from "./branches.js";
import { LOST, OVER } from "./status.js";
import { liveOf, settingText, withSetting } from "./tasks.js";

/** @import { Point } from "./branches.js" */
/** @import { Drawn } from "./series.js" */
/** @import { Past, State } from "./state.js" */

const MOST = 3; // earlier runs whose lines stay

/** Of a snapshot. @type {(keyof Drawn)[]} */
const DRAWN = ["loss_steps", "losses", "loss_sd", "score_steps", "scores", "score_sd"];

/** Earlier runs as a session keeps them: what is drawn of each, as JSON has it. @param {Past[]} ghosts */
export function packed(ghosts) {
  return ghosts.map((ghost) => ({ ...ghost, snapshot: drawnOf(ghost.snapshot, (y) => Array.from(y)) }));
}

/**
 * The same again, but for runs of formulas that are no longer known.
 * @param {Past[]|null} stored
 * @returns {Past[]}
 */
export function unpacked(stored) {
  return (stored ?? [])
    .filter(
      ({ choice }) => findEntry("op", choice.op) && choice.rules.every(({ key }) => findEntry("rule", key)),
    )
    .map((ghost) => ({
      ...ghost,
      snapshot: drawnOf(ghost.snapshot, (y) => Array.from(y, (each) => each ?? NaN)),
    }));
}

/**
 * @param {Drawn} snapshot
 * @param {(y: ArrayLike<number>) => number[]} written
 * @returns {Drawn}
 */
function drawnOf(snapshot, written) {
  /** @type {(value: *) => *} */
  const each = (value) =>
    Array.isArray(value) || ArrayBuffer.isView(value)
      ? written(/** @type {*} */ (value))
      : Object.fromEntries(Object.entries(value).map(([rule, y]) => [rule, written(y)]));
  return /** @type {Drawn} */ (Object.fromEntries(DRAWN.map((name) => [name, each(snapshot[name])])));
}

/** The steps that can be displayed, ascending: the checkpoints, and the present one. @param {State} state */
export function stepsToDisplay({ view: { status } }) {
  const checkpoints = status.snapshot?.checkpoints ?? [];
  return [...checkpoints.filter((step) => step < status.step), ...(status.snapshot ? [status.step] : [])];
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
 * The step to display where ``wanted`` is requested; null for the present one.
 * @param {State} state
 * @param {number} wanted
 */
export function lookedAt(state, wanted) {
  const step = nearest(stepsToDisplay(state), wanted);
  return step === null || step >= state.view.status.step ? null : step;
}

/**
 * The change of the state where the requested step is no longer a checkpoint.
 * @param {State} state
 * @param {import("./status.js").Status} displayed at the nearest one
 * @returns {Partial<State>}
 */
export function instead({ at, view }, displayed) {
  const isLast = displayed.step >= view.status.step;
  const remark = `Step ${at} is no longer kept: ${displayed.step} is the nearest.`;
  return isLast ? { at: null, displayed: null, remark } : { at: displayed.step, displayed, remark };
}

/** The state as it was at the step that is looked at. @param {State} state @returns {State} */
export function scrubbed(state) {
  const { at, displayed, view } = state;
  if (at === null || !displayed) return state;
  const { steps_per_second: _, ...rest } = view.status;
  const { snapshot, words, judged, step } = displayed;
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
  const live = Object.entries(liveOf(choice)).filter(([name]) => name !== "lr");
  const known = live.reduce((one, [name, text]) => withSetting(one, name, text), trained ?? choice);
  if (!status.recorded) return known;
  const { lr, branch } = status.recorded;
  return withPoints(withSetting(known, "lr", lr), pointsOf(branch, keysOf(known)));
}

/** Whether a run is on its way: what its learning rate is set to holds from here on. @param {State} state */
export function isOnItsWay({ view: { status } }) {
  return status.step > 0 && !["idle", ...OVER, ...LOST].includes(status.state);
}

/** The learning rate on display. @param {State} state */
export function rateOf(state) {
  const { rate, choice, view } = state;
  const start = settingText(choice, "lr");
  if (rate !== null) return rate;
  return isOnItsWay(state) ? rateAt(pointsIn(choice), view.status.step, start) : start;
}

/**
 * The choice once the run has recorded the changes on its way; null where nothing is new or it is still to
 * come.
 * @param {State} state
 * @returns {State["choice"]|null}
 */
export function caughtUp(state) {
  const { rate, choice, view } = state;
  const { recorded, step, id } = view.status;
  const isOver = OVER.includes(view.status.state);
  if (!recorded || id !== view.id || !(isOnItsWay(state) || (isOver && rate !== null))) return null;
  const known = recordedChoice(state);
  const start = settingText(known, "lr");
  const isHeard = rate === null || Number(rateAt(pointsIn(known), step, start)) === Number(rate);
  if (!isHeard && !isOver && !view.notice) return null;
  const isSame =
    saysSame(pointsIn(known), pointsIn(choice)) && Number(start) === Number(settingText(choice, "lr"));
  if (isSame) return rate === null ? null : choice;
  return known;
}

/** The branch points of a choice. @param {State["choice"]} choice */
export function pointsIn(choice) {
  return pointsOf(choice.training.branch, keysOf(choice));
}

/** @param {State["choice"]} choice @param {Point} point */
export function branchedChoice(choice, point) {
  return withPoints(choice, branchedAt(pointsIn(choice), point));
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
export function withPast({ ghosts, trained, choice, data, view: { status } }, name) {
  if (!status.snapshot) return ghosts;
  const number = 1 + Math.max(0, ...ghosts.map((ghost) => ghost.number));
  const { snapshot, recorded } = status;
  return [...ghosts, { choice: trained ?? choice, snapshot, recorded, name, number, data }].slice(-MOST);
}
