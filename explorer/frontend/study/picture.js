// The view model of the Study page: its state as plain data to display.

import { getCatalogue } from "../choice/entries.js";
import { buildHeatMap } from "./heat.js";
import { describeOrder } from "./order.js";
import { buildPlan } from "./plan.js";
import { getSubject } from "./rows.js";
import * as tasks from "../train/state/tasks.js";
import { suggestRemedy } from "../train/state/remedies.js";
import { ACTIVE, isOfChoice } from "./state.js";

/** @import { State } from "./state.js" */
/**
 * The contents of the Study page.
 * @typedef {{start: boolean, stop: boolean, resume: boolean, reset: boolean, restore: boolean}} Offered which buttons
 *   are enabled
 * @typedef {{offered: Offered, again: boolean, metrics: string[], taken: number, status: {main: string, next: string, state: string},
 *   heat: import("./heat.js").Heat, plan: import("./plan.js").Plan|null, judgement:
 *   import("./judgement.js").Judgement|null, order: string, verdict: string[], csv: string|null, choice:
 *   State["choice"], task: import("../train/state/tasks.js").Task, about: string, table:
 *   import("../train/settings/table-input.js").Picture}} Picture everything that the page displays; ``taken``: the
 *   fraction that is done; ``order``: the effect of equal footing; ``verdict``: sentences about the result; ``csv``: id
 *   of the study whose files can be downloaded, or null
 */

const UNREACHABLE = ["gone", "silent"]; // states in which the server cannot send results
const describeLostConnection = () =>
  `Connection lost: trying again every second. An unwatched study stops after ${getCatalogue().limits.unwatched} seconds; finished runs are kept.`;
const OTHER_SETTINGS = "These results belong to other settings: press Start to study the present ones.";
const NOT_JUDGED = "This task has no data to judge by: choose another one above, such as Digits.";
const ONE_SEED = "With one seed there is no interval, and chance cannot be ruled out.";
const MEASURING = "Measuring how long this takes …";

/** Return the contents of the Study page. @param {State} state @returns {Picture} */
export function buildPicture(state) {
  const { choice, view } = state;
  const { results } = view.status;
  const task = tasks.getSelectedTask(choice);
  return {
    offered: getEnabledButtons(state),
    again: view.status.state === "finished" && isOfChoice(state),
    metrics: [
      results ? `${results.runs} / ${results.most}` : "–",
      view.status.left || (results ? "0 s" : "–"),
    ],
    taken: view.status.total ? view.status.done / view.status.total : 0,
    status: makeStatus(state),
    heat: buildHeatMap(state),
    plan: tasks.isJudged(state.choice) ? buildPlan(state) : null,
    judgement: makeJudgement(state),
    order: describeOrder(state),
    verdict: results?.words ?? [],
    csv: results?.runs && !UNREACHABLE.includes(view.status.state) ? view.id : null,
    choice,
    task,
    about: tasks.describeTask(choice),
    table: { visible: task.kind === "own", own: state.table, reading: state.reading },
  };
}

/**
 * Return Python's statement about the best rules with the colours of the page, or null if there is none.
 * @param {State} state
 */
function makeJudgement(state) {
  const { results } = state.view.status;
  if (!results?.figure) return null;
  const { headline, equal, figure } = results;
  const colours = Object.fromEntries(getSubject(state).lines.map(({ key, colour }) => [key, colour]));
  return { headline, equal, figure, colours, words: "Differences from the highest mean" };
}

/** @param {State} state @returns {Offered} */
function getEnabledButtons(state) {
  const { view, cost, wrong } = state;
  const { state: name, results } = view.status;
  const goesOn = ACTIVE.includes(name) || name === "paused";
  const isCurrent = isOfChoice(state);
  return {
    start:
      !wrong &&
      !tasks.isUnread(state) &&
      tasks.isJudged(state.choice) &&
      !cost?.refused &&
      !tasks.explainUntrained(state.choice) &&
      !(isCurrent && goesOn),
    stop: ACTIVE.includes(name),
    resume: name === "paused",
    reset: name !== "idle" || results !== null,
    restore:
      results !== null && !isCurrent && isOfChoice({ ...state, choice: state.studied ?? state.choice }),
  };
}

/** Return the sentence about the study, and one about the next step. @param {State} state */
function makeStatus(state) {
  const { view, cost } = state;
  const { status, notice, lost: isLost } = view;
  const refusal = ACTIVE.includes(status.state) || isLost ? "" : tasks.explainUntrained(state.choice);
  if (refusal) return { main: refusal, next: suggestRemedy(state.choice), state: "refused" };
  const obstacle = status.state === "idle" && !notice && !isLost ? explainObstacle(state) : "";
  if (obstacle) return { main: obstacle, next: "", state: "refused" };
  const main = notice || (isLost ? describeLostConnection() : status.sentence);
  return {
    main,
    next: isLost && notice ? describeLostConnection() : suggestNext(state, cost),
    state: isLost ? "lost" : notice || cost?.refused ? "refused" : status.state,
  };
}

/** Return why a study cannot start with the current settings, or "" if it can. @param {State} state */
function explainObstacle({ choice, cost, wrong }) {
  if (wrong) return tasks.explainInvalid(wrong);
  if (!tasks.isJudged(choice)) return NOT_JUDGED;
  return cost?.refused ? cost.sentence : "";
}

/**
 * Describe the cost and limits of a study with the current settings. Returns "" while such a study is displayed.
 * @param {State} state @param {State["cost"]} cost
 */
function suggestNext(state, cost) {
  const { status } = state.view;
  if (state.wrong) return tasks.explainInvalid(state.wrong);
  if (!tasks.isJudged(state.choice)) return NOT_JUDGED;
  const isCurrent = isOfChoice(state);
  if (isCurrent && status.state !== "gone" && status.state !== "failed") return "";
  const staleNote = state.studied && !isCurrent && status.results ? OTHER_SETTINGS : "";
  const seedNote = tasks.getSetting(state.choice, "seeds") === "1" ? ONE_SEED : "";
  return [staleNote, cost?.sentence ?? MEASURING, seedNote].filter(Boolean).join(" ");
}
