// The view model of the Train page: its state as plain data to display.

import { getCatalogue } from "../../choice/entries.js";
import { formatShort } from "../../formula/numbers.js";
import { buildAlignmentChart, formatValues } from "../evidence/alignment-data.js";
import { buildRulePanel, buildEvidence } from "../evidence/view-model.js";
import { findLastPoint, makeEarlierCurves, makeFaint, makeLegend } from "../state/series.js";
import { buildNetDrawing } from "../object/view-model.js";
import { buildSlowMotion } from "../slow-motion/view-model.js";
import { buildBranchedSeries, labelLines, parseBranches } from "../state/branches.js";
import { getRuleKeys, getShownRate, toDisplayedState } from "../state/history.js";
import { makePresentTexts } from "./learned-values.js";
import { getChangeQuestion } from "./task-change.js";
import { suggestRemedy, getRemovalLabel } from "../state/remedies.js";
import { findPast } from "../state/past-run.js";
import { OTHER_SETTINGS } from "../state/state.js";
import { buildHistoryView } from "../history/view-model.js";
import { ACTIVE, IDLE, OVER } from "../state/status.js";
import * as tasks from "../state/tasks.js";

/** @import { LegendEntry, Measure } from "../state/series.js" */
/** @import { State } from "../state/state.js" */
/**
 * The contents of the Train page.
 * @typedef {{start: boolean, pause: boolean, resume: boolean, step: boolean, reset: boolean}} Offered which buttons are
 *   enabled
 * @typedef {{offered: Offered, again: boolean, offersOwnOp: boolean, removal: string, metrics: string[], taken: number,
 *   status: {main: string, next: string, state: string}, verdict: string, headline: string, offersSeeds: boolean,
 *   chart: import("../charts/chart.js").Picture, heading: string, measures: {options: {value: Measure,
 *   label: string}[], chosen: Measure}, past: string, alignment: import("../evidence/alignment-data.js").Alignment, why:
 *   import("../evidence/view.js").Picture|null, slow: import("../slow-motion/view-model.js").Picture|null, rows:
 *   import("./metrics-table.js").Picture, choice: State["choice"], present: import("../../cards/cards.js").Present,
 *   task: import("../state/tasks.js").Task, about: string, table: import("../settings/table-input.js").Picture,
 *   lacksTable: boolean, time: import("../history/view-model.js").Time, rate: string, object:
 *   import("../object/view-model.js").Picture, one: import("./one-panel.js").Picture|null, asks:
 *   import("../settings/task-note.js").Picture|null}} Picture everything that the page displays; ``rate``: the learning
 *   rate; ``why``: null while a run moves and the evidence is closed
 */

const describeLostConnection = () =>
  `Connection lost: trying again every second. A run that nobody watches pauses after ${getCatalogue().limits.unwatched} seconds.`;
const NO_TABLE = "Paste a table first, or take the example below it.";
const TABLE_REFUSED = "Change the table first: the note below it says why it cannot be trained.";
const NEXT_STEPS = /** @type {Object<string, string>} */ ({
  paused: "Press Resume to go on.",
  failed: "Change a setting, or press Start to try again.",
  stopped: "Press Start to run it again.",
  waiting: "It goes on by itself.",
});
const BACK = "Thin lines are what came after. Go on from here, or branch.";
const BRANCHES =
  "This run branches. To get the line without the branch, remove the branch (×) when the run is over and press Start again.";
const SPEED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const LATER = /(?<=\.) .*/; // all sentences but the first
const LEGENDS = { score: "", loss: "", norms: "w1 solid, w2 dotted", learned: "" };
const MISSING = { score: "held-out score", loss: "loss", norms: "gradient norm", learned: "parameter" };

/** Return the contents of the Train page, at the displayed step. @param {State} live @returns {Picture} */
export function buildPicture(live) {
  const state = toDisplayedState(live);
  const { choice, view, colours } = state;
  const { snapshot } = view.status;
  const seeds = snapshot?.seeds ?? 1;
  const task = tasks.getSelectedTask(choice);
  const lines = makeLegend(choice, colours);
  const points = parseBranches(view.status.recorded?.branch, getRuleKeys(choice));
  const going = labelLines(lines, points, snapshot?.step ?? 0);
  const metric = getMetricName(state);
  const options = listMeasures(metric, Boolean(choice.training.learn));
  const alignment = buildAlignmentChart(state, lines);
  const aligned = formatValues(alignment.chart);
  const after = state.view.status === live.view.status ? [] : buildAlignmentChart(live, lines).chart.series;
  alignment.chart.at = live.at;
  alignment.chart.series = [...after.map(makeFaint), ...alignment.chart.series];
  const isBarred = Boolean(live.wrong || tasks.explainUntrained(choice) || requestTable(live));
  const refusal = getRefusal(live);
  const removal = refusal && getRemovalLabel(choice);
  const measure = (options.find(({ value }) => value === state.measure) ?? options[0]).value;
  const { past, ...chart } = buildMainChart(state, measure, live.view.status.snapshot);
  const object = buildNetDrawing(state, lines);
  const verdict = view.status.conclusion;
  return {
    offered: getEnabledButtons(view.status.state, tasks.isUnread(live) || isBarred),
    again: OVER.includes(view.status.state),
    offersOwnOp:
      tasks.hasOwnEntries(choice) &&
      ((view.status.state === "diverged" && !view.status.step) ||
        (refusal !== "" && !live.wrong && !removal)),
    removal,
    metrics: formatMetrics(state, lines),
    taken: view.status.step / countSteps(state),
    status: makeStatus(live),
    verdict,
    headline: OVER.includes(view.status.state)
      ? describeOldRate(state) || view.status.headline || verdict.replace(LATER, "")
      : "",
    // a comparison with one seed proves little, unless the nets are equal
    offersSeeds:
      OVER.includes(view.status.state) &&
      metric !== null &&
      snapshot?.seeds === 1 &&
      new Set(Object.values(snapshot.losses).map(String)).size > 1,
    heading: makeHeading(chart.series.length ? seeds : 1, getScale(state, measure)),
    measures: { options, chosen: measure },
    chart,
    past,
    alignment,
    why: ACTIVE.includes(view.status.state) && !state.evidence ? null : buildEvidence(state, lines),
    slow: buildSlowMotion(live, going),
    rows: {
      lines: going,
      snapshot,
      judged: metric === null ? null : view.status.judged,
      aligned,
      several: (snapshot?.seeds ?? 1) > 1,
    },
    choice,
    present: makePresentTexts(state),
    task,
    about: tasks.describeTask(choice),
    table: { visible: task.kind === "own", own: state.table, reading: state.reading },
    lacksTable: tasks.isTableMissing(choice, state.table),
    time: buildHistoryView(live, lines),
    rate: getShownRate(live),
    object,
    one: buildRulePanel(state, lines, {
      alignment: alignment.title,
      score: makeHeading(seeds, getScale(state, "score")),
      loss: makeHeading(seeds, getScale(state, "loss")),
    }),
    asks: getChangeQuestion(live),
  };
}

/** Return the contents of the drawing of the net. @param {State} live */
export function makeObject(live) {
  const state = toDisplayedState(live);
  return buildNetDrawing(state, makeLegend(state.choice, state.colours));
}

/**
 * Return the name of the metric on held-out data, such as "accuracy", or null without such data. That of the run comes
 * first; a table whose analysis names no chance has a column of numbers to learn.
 * @param {State} state
 */
function getMetricName({ choice, trained, view, reading }) {
  const { snapshot } = view.status;
  if (trained && snapshot) return snapshot.metric;
  const { kind, metric } = tasks.getSelectedTask(choice);
  const isOfNumbers = reading?.message === undefined && reading?.chance === null && !reading.refused;
  return kind === "own" && isOfNumbers ? "R²" : metric;
}

/**
 * Return the measures that the main chart can plot; the first is the default.
 * @param {string|null} metric "accuracy", "R²", or null without a score
 * @param {boolean} learns whether a parameter learns @returns {{value: Measure, label: string}[]}
 */
function listMeasures(metric, learns) {
  const measures = /** @type {{value: Measure, label: string}[]} */ ([
    { value: "score", label: metric === "accuracy" ? "Accuracy" : metric },
    { value: "loss", label: "Loss" },
    { value: "norms", label: "Gradient norms" },
    { value: "learned", label: "Parameters" },
  ]);
  return measures.filter(({ value }) => (value !== "score" || metric) && (value !== "learned" || learns));
}

/** @param {string} name state of the run @param {boolean} unread whether no run can start yet @returns {Offered} */
function getEnabledButtons(name, unread) {
  const active = ACTIVE.includes(name);
  const paused = name === "paused";
  return {
    start: !active && !paused && !unread,
    pause: active || paused,
    resume: paused,
    step: !OVER.includes(name) && !unread,
    reset: name !== "idle",
  };
}

/**
 * Return the run's step, loss, speed and device as text. The loss is that of the first rule.
 * @param {State} state @param {LegendEntry[]} lines
 */
function formatMetrics(state, [first, ...others]) {
  const { status } = state.view;
  const loss = status.snapshot?.loss[first.key];
  const suffix = others.length ? ` of ${first.label}` : "";
  return [
    `${status.step} / ${countSteps(state)}`,
    typeof loss === "number" ? formatShort(loss) + suffix : "–",
    status.steps_per_second ? SPEED.format(status.steps_per_second) : "–",
    status.device ?? "–",
  ];
}

/** Return the number of steps of the run or, without a run, of the settings. @param {State} state */
function countSteps({ choice, view }) {
  return view.status.steps || Number(tasks.getSetting(choice, "steps"));
}

/**
 * Return why training cannot start with the current settings. Returns "" if it can, while a run is active or
 * unreachable, and while an earlier step is displayed.
 * @param {State} state
 */
function getRefusal({ choice, wrong, view: { status, lost }, at }) {
  if (ACTIVE.includes(status.state) || at !== null || lost) return "";
  return wrong ? tasks.explainInvalid(wrong) : tasks.explainUntrained(choice);
}

/**
 * Return the sentence about the run, and one about the next step.
 * @param {State} state
 */
function makeStatus(state) {
  const { choice, at } = state;
  const { status, notice, lost: isLost } = state.view;
  const isIdle = status.state === IDLE.state;
  const remark = isIdle && state.remark ? OTHER_SETTINGS : state.remark; // the restart may have failed
  const request = isIdle ? requestTable(state) : "";
  const begins = !isIdle || request ? "" : choice.training.branch ? BRANCHES : tasks.describeRun(choice);
  const past = at === null ? "" : `Step ${at} of a run that is at step ${status.step}.`;
  const refusal = getRefusal(state);
  if (refusal) return { main: refusal, next: "", state: "refused" };
  const main = notice || (isLost ? describeLostConnection() : past || request || status.sentence);
  const onward = past
    ? `${remark} ${BACK}`.trim()
    : (!request && remark) || describeOldRate(state) || (NEXT_STEPS[status.state] ?? begins);
  const next = isLost ? notice && describeLostConnection() : notice ? "" : onward;
  return { main, next, state: isLost ? "lost" : notice ? "refused" : status.state };
}

/** Return what to do about the user's table before a run can start, or "". @param {State} state */
function requestTable({ choice, table, reading }) {
  if (tasks.isTableMissing(choice, table)) return NO_TABLE;
  const isRefused = reading && (reading.message ?? reading.refused);
  return tasks.getSelectedTask(choice).kind === "own" && isRefused ? TABLE_REFUSED : "";
}

/**
 * Return a note if the result was trained with another learning rate than the displayed one, otherwise "".
 * @param {State} state
 */
function describeOldRate({ trained, choice, view: { status } }) {
  const rate = trained && OVER.includes(status.state) ? tasks.getSetting(trained, "lr") : "";
  const isOther = rate !== "" && Number(rate) !== Number(tasks.getSetting(choice, "lr"));
  return isOther ? `lr ${tasks.getSetting(choice, "lr")} is not trained yet: press Again.` : "";
}

/** @param {number} seeds those of the curves @param {import("../charts/axes.js").Scale} scale */
function makeHeading(seeds, { title, heldOut }) {
  const name = heldOut ? `Held-out ${title}` : `${title[0].toUpperCase()}${title.slice(1)}`;
  if (seeds === 1) return name;
  const band = heldOut ? "± SD " : title === "loss" ? "and range " : "";
  return `${name}: mean ${band}of ${seeds} seeds`;
}

/** @param {State} state @param {Measure} measure @returns {import("../charts/axes.js").Scale} */
function getScale(state, measure) {
  const metric = getMetricName(state);
  if (measure === "learned") {
    const subject = state.choice.training.learn_each === "channel" ? "mean over channels" : "value";
    return { kind: "plain", title: `${subject} of what learns`, chance: null };
  }
  if (measure !== "score") {
    const title = measure === "loss" ? "loss" : "gradient norm";
    return { kind: "decades", title, chance: null };
  }
  const [score = ""] = Object.values(state.view.status.judged);
  const common = { heldOut: true, decimals: /\.(\d+)/.exec(score)?.[1].length };
  if (metric !== "accuracy") return { kind: "fit", title: metric ?? "", chance: null, ...common };
  const { chance: guess } = tasks.getSelectedTask(state.choice); // null of a table, whose classes may differ in size
  const chance = guess ?? state.view.status.snapshot?.chance ?? null;
  return {
    kind: "share",
    title: "accuracy, %",
    chance,
    guess: guess ? "chance" : "commonest class",
    ...common,
  };
}

/**
 * @param {State} state the state at the displayed step @param {Measure} measure
 * @param {import("../state/records.js").Snapshot|null} latest the run at its last step, or null
 * @returns {import("../charts/chart.js").Picture & {past: string}} ``past``: a sentence on the run before if its curves are
 *   visible, otherwise ""
 */
function buildMainChart(state, measure, latest) {
  const { trained, view, at, colours } = state;
  const { snapshot, conclusion, recorded } = view.status;
  const getCurves = (/** @type {typeof latest} */ at) =>
    trained && at ? buildBranchedSeries(measure, { choice: trained, snapshot: at, recorded }, colours) : [];
  const now = getCurves(snapshot);
  const later = latest === snapshot ? [] : getCurves(latest).map(makeFaint);
  const past = findPast(state);
  const before = makeEarlierCurves(past?.getCurves(measure) ?? [], getRuleKeys(state.choice));
  const series = [...before, ...later, ...now];
  const scale = getScale(state, measure);
  return {
    run: `${view.id} ${before.length} ${measure}`,
    at,
    scale,
    series,
    steps:
      view.status.state === "diverged" // a run that ended early fills the axis
        ? Math.max(0, ...series.map((each) => findLastPoint(each)?.x ?? 0)) + 1
        : countSteps(state),
    words: `${makeHeading(snapshot?.seeds ?? 1, scale)}, over steps. ${conclusion}`.trim(),
    empty: suggestRemedy(state.choice) || explainEmptyCurves(measure, snapshot),
    legend: LEGENDS[measure],
    past: past && before.length ? past.sentence : "",
  };
}

/** @param {Measure} measure @param {import("../state/records.js").Snapshot|null} snapshot null before the first step */
function explainEmptyCurves(measure, snapshot) {
  const hasBegun = snapshot?.step || snapshot?.finished;
  const quantity = MISSING[measure];
  return hasBegun
    ? `No ${quantity} is finite${measure === "score" || measure === "learned" ? "" : " and above 0"}`
    : `The ${quantity} appears here with the first step`;
}
