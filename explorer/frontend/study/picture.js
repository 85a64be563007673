// The view model of the page Study: a picture of a state, as plain data. No page.

import { accuracyOf } from "./accuracy.js";
import { catalogue } from "../choice/entries.js";
import { differencesOf } from "./differences.js";
import { heatOf } from "./heat.js";
import { orderOf } from "./order.js";
import { planOf } from "./plan.js";
import { isJudged, isUnread, settingText, taskOf, untrained, wordsOfTask } from "../train/state/tasks.js";
import { remedyOf } from "../train/state/refused.js";
import { ACTIVE, isOfChoice } from "./state.js";

/** @import { State } from "./state.js" */
/**
 * The buttons that are enabled.
 * @typedef {{start: boolean, stop: boolean, resume: boolean, reset: boolean}} Offered
 * The whole picture, which a painter puts on the page.
 * @typedef {{offered: Offered, metrics: string[], taken: number,
 *   status: {main: string, next: string, state: string}, heat: import("./heat.js").Heat,
 *   accuracy: import("./accuracy.js").Picture, plan: import("./plan.js").Plan|null,
 *   differences: import("./differences.js").Picture|null, order: string, verdict: string[], csv: string|null,
 *   choice: State["choice"], task: import("../train/state/tasks.js").Task, about: string,
 *   table: import("../train/settings/table-input.js").Picture}} Picture
 */

const LOST = ["gone", "silent"]; // the server has not the runs, or does not tell them
const cutOff = () =>
  `Connection lost: trying again every second. A study that nobody watches stops after ${catalogue().limits.unwatched} seconds; what is done is kept.`;
const OTHER = "These results belong to other settings: press Start to study the present ones.";
const NOT_JUDGED = "This task has no data to judge by, so rules cannot be studied on it: choose another one.";
const ONE_SEED = "With one seed there is no interval, and chance cannot be ruled out.";
const WRONG = "A field holds an impossible value, which is not used.";
const MEASURING = "Measuring how long this takes …";

/** @param {State} state @returns {Picture} */
export function pictureOf(state) {
  const { choice, view } = state;
  const { results } = view.status;
  const task = taskOf(choice);
  return {
    offered: offeredOf(state),
    metrics: [results ? `${results.runs} / ${results.most}` : "–", view.status.left || "–"],
    taken: view.status.total ? view.status.done / view.status.total : 0,
    status: wordsOf(state),
    heat: heatOf(state),
    accuracy: accuracyOf(state),
    plan: isJudged(state.choice) ? planOf(state) : null,
    differences: differencesOf(state),
    order: orderOf(state),
    verdict: results?.words ?? [],
    csv: results?.runs && !LOST.includes(view.status.state) ? view.id : null,
    choice,
    task,
    about: wordsOfTask(choice),
    table: { visible: task.kind === "own", own: state.table, reading: state.reading },
  };
}

/** @param {State} state @returns {Offered} */
function offeredOf(state) {
  const { view, cost, wrong } = state;
  const { state: name, results } = view.status;
  const goesOn = ACTIVE.includes(name) || name === "paused";
  const mine = isOfChoice(state);
  return {
    start:
      !wrong &&
      !isUnread(state) &&
      isJudged(state.choice) &&
      !cost?.refused &&
      !untrained(state.choice) &&
      !(mine && goesOn),
    stop: ACTIVE.includes(name),
    resume: name === "paused",
    reset: name !== "idle" || results !== null,
  };
}

/** The sentence of the state, and what follows from what is chosen. @param {State} state */
function wordsOf(state) {
  const { view, cost, wrong } = state;
  const { status, notice, lost } = view;
  const refusal = ACTIVE.includes(status.state) || lost ? "" : untrained(state.choice);
  if (refusal) return { main: refusal, next: remedyOf(state.choice), state: "refused" };
  const obstacle = status.state === "idle" && !notice && !lost ? obstacleOf(state) : "";
  if (obstacle) return { main: obstacle, next: "", state: "refused" };
  const main = notice || (lost ? cutOff() : status.sentence);
  return {
    main,
    next: wrong ? WRONG : lost && notice ? cutOff() : nextOf(state, cost),
    state: lost ? "lost" : notice || cost?.refused ? "refused" : status.state,
  };
}

/** Why no study of what is chosen can begin, "" where one can. @param {State} state */
function obstacleOf({ choice, cost, wrong }) {
  if (wrong) return WRONG;
  if (!isJudged(choice)) return NOT_JUDGED;
  return cost?.refused ? cost.sentence : "";
}

/** @param {State} state @param {State["cost"]} cost */
function nextOf(state, cost) {
  const { status } = state.view;
  if (!isJudged(state.choice)) return NOT_JUDGED;
  const mine = isOfChoice(state);
  if (mine && status.state !== "gone" && status.state !== "failed") return "";
  const before = state.studied && !mine && status.results ? OTHER : "";
  const alone = settingText(state.choice, "seeds") === "1" ? ONE_SEED : "";
  return [before, cost?.sentence ?? MEASURING, alone].filter(Boolean).join(" ");
}
