// The view model of the page Train: a picture of a state, as plain data. No page.

import { getCatalogue } from "../../choice/entries.js";
import { formatShort } from "../../formula/numbers.js";
import { alignmentOf, valuesOf } from "../evidence/alignment-data.js";
import { oneOf, whyOf } from "../evidence/view-model.js";
import { endOf, makeGhosts, seriesOf } from "../state/series.js";
import { objectOf } from "../object/view-model.js";
import { slowOf } from "../slow-motion/view-model.js";
import { splitAtBranches, labelLines, pointsOf } from "../state/branches.js";
import { keysOf, rateOf, toDisplayedState } from "../state/history.js";
import { presentTexts } from "./learned-values.js";
import { asksOf } from "./task-change.js";
import { remedyOf, removalOf } from "../state/remedies.js";
import { findComparable, legendOf } from "../state/state.js";
import { timeOf } from "../history/view-model.js";
import { ACTIVE, IDLE, OVER } from "../state/status.js";
import {
  differenceOf,
  hasOwnEntries,
  isUnread,
  isTableMissing,
  getSetting,
  taskOf,
  explainUntrained,
  describeTask,
} from "../state/tasks.js";

/** @import { LegendEntry, Measure, Series } from "../state/series.js" */
/** @import { PastRun, State } from "../state/state.js" */
/**
 * The buttons that are enabled.
 * @typedef {{start: boolean, pause: boolean, resume: boolean, step: boolean, reset: boolean}} Offered
 * The whole picture, which a painter puts on the page.
 * @typedef {{offered: Offered, again: boolean, offersOwnOp: boolean, removal: string, metrics: string[], taken: number, status: {main: string, next: string, state:
 * string}, verdict: string, headline: string, offersSeeds: boolean, moving: boolean, chart: import("../charts/chart.js").Picture, heading: string,
 *   measures: {options: {value: Measure, label: string}[], chosen: Measure},
 *   alignment: import("../evidence/alignment-data.js").Alignment, why: import("../evidence/view.js").Picture,
 *   slow: import("../slow-motion/view-model.js").Picture|null,
 *   rows: import("./metrics-table.js").Picture, choice: State["choice"],
 *   present: import("../../cards/cards.js").Present,
 *   task: import("../state/tasks.js").Task, about: string, table: import("../settings/table-input.js").Picture,
 *   lacksTable: boolean, time: import("../history/view-model.js").Time, rate: string, object: import("../object/view-model.js").Picture|null,
 *   one: import("./one-panel.js").Picture|null, asks: import("../settings/task-note.js").Picture|null}} Picture ``rate`` is the learning rate on display
 */

const cutOff = () =>
  `Connection lost: trying again every second. A run that nobody watches pauses after ${getCatalogue().limits.unwatched} seconds.`;
const NO_TABLE = "Paste a table first, or take an example that has one.";
const NEXT = /** @type {Object<string, string>} */ ({
  paused: "Press Resume to go on.",
  finished: "Change something and press Start to compare.",
  failed: "Change a setting, or press Start to try again.",
  stopped: "Press Start to run it again.",
  waiting: "It goes on by itself.",
});
const FAINT = "The faint curves are the run before.";
const BACK = "Thin lines are what came after. Go on from here, or branch.";
const BRANCHES =
  "This run branches. To get the line without the branch, remove the branch (×) when the run is over and press Start again.";
const LEGENDS = { score: "", loss: "", norms: "w1 solid, w2 dotted", learned: "" };
const MISSING = { score: "held-out score", loss: "loss", norms: "gradient norm", learned: "parameter" };

/** @param {State} live @returns {Picture} */
export function pictureOf(live) {
  const state = toDisplayedState(live);
  const { choice, view, colours } = state;
  const { snapshot } = view.status;
  const task = taskOf(choice);
  const lines = legendOf(choice, colours);
  const going = labelLines(
    lines,
    pointsOf(view.status.recorded?.branch, keysOf(choice)),
    snapshot?.step ?? 0,
  );
  const metric = metricOf(state);
  const options = measuresOf(metric, Boolean(choice.training.learn));
  const alignment = alignmentOf(state, lines);
  const aligned = valuesOf(alignment.chart);
  const after = state.view.status === live.view.status ? [] : alignmentOf(live, lines).chart.series;
  alignment.chart.at = live.at;
  alignment.chart.series = [...makeGhosts(after, null, []), ...alignment.chart.series];
  const refusal = refusalNow(live);
  const removal = refusal && removalOf(choice);
  const chosen = (options.find(({ value }) => value === state.measure) ?? options[0]).value;
  const chart = chartOf(state, chosen, live.view.status.snapshot);
  const object = state.drawn ? objectOf(state, lines) : null;
  const isSeen = !object || object.begun; // before that a calm page shows no chart
  const isFaint = isSeen && chart.series.some(({ faint }) => faint);
  return {
    offered: offeredOf(view.status.state, isUnread(live) || Boolean(explainUntrained(choice))),
    again: OVER.includes(view.status.state),
    offersOwnOp: hasOwnEntries(choice) && (isBrokenAtStart(view.status) || (refusal !== "" && !removal)),
    removal,
    metrics: metricsOf(state, lines),
    taken: view.status.step / stepsOf(state),
    status: wordsOf(live, isFaint),
    verdict: view.status.words.at(-1) ?? "",
    headline: headlineOf(view.status),
    offersSeeds: state.drawn && OVER.includes(view.status.state) && hasOneSeed(state),
    moving: ACTIVE.includes(view.status.state),
    heading: headingOf(choice, scaleOf(state, chosen)),
    measures: { options, chosen },
    chart,
    alignment,
    why: whyOf(state, lines),
    slow: slowOf(live, going),
    rows: {
      lines: going,
      snapshot,
      judged: metric === null ? null : view.status.judged,
      aligned,
      several: (snapshot?.seeds ?? 1) > 1,
    },
    choice,
    present: presentTexts(state),
    task,
    about: describeTask(choice),
    table: { visible: task.kind === "own", own: state.table, reading: state.reading },
    lacksTable: isTableMissing(choice, state.table),
    time: timeOf(live, lines),
    rate: rateOf(live),
    object,
    one: oneOf(state, lines),
    asks: asksOf(live),
  };
}

/** The net as an object, as it is now. @param {State} live */
export function objectNow(live) {
  const state = toDisplayedState(live);
  return objectOf(state, legendOf(state.choice, state.colours));
}

/** The metric of held-out data: that of the run, which knows more than its task. @param {State} state */
function metricOf({ choice, trained, view }) {
  const task = taskOf(choice);
  const { snapshot } = view.status;
  return trained && snapshot && taskOf(trained).key === task.key ? snapshot.metric : task.metric;
}

/**
 * The measures of the large chart; the first is the default.
 * @param {string|null} metric
 * @param {boolean} learns whether a parameter of the op does
 * @returns {{value: Measure, label: string}[]}
 */
function measuresOf(metric, learns) {
  const measures = /** @type {{value: Measure, label: string}[]} */ ([
    { value: "score", label: metric === "accuracy" ? "Accuracy" : metric },
    { value: "loss", label: "Loss" },
    { value: "norms", label: "Gradient norms" },
    { value: "learned", label: "Parameters" },
  ]);
  return measures.filter(({ value }) => (value !== "score" || metric) && (value !== "learned" || learns));
}

/** @param {string} name of a state @param {boolean} unread @returns {Offered} */
function offeredOf(name, unread) {
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
 * Step, loss of the first rule, which is named where there are others, speed and device.
 * @param {State} state
 * @param {LegendEntry[]} lines
 */
function metricsOf(state, [first, ...others]) {
  const { status } = state.view;
  const loss = status.snapshot?.loss[first.key];
  const of = others.length ? ` of ${first.label}` : "";
  return [
    `${status.step} / ${stepsOf(state)}`,
    typeof loss === "number" ? formatShort(loss) + of : "–",
    status.steps_per_second ? Math.round(status.steps_per_second).toLocaleString("en-US") : "–",
    status.device ?? "–",
  ];
}

/** @param {State} state */
function stepsOf({ choice, view }) {
  return view.status.steps || Number(getSetting(choice, "steps"));
}

/** Why nothing can be started, "" where something can or goes on. @param {State} state */
function refusalNow({ choice, view: { status, lost }, at }) {
  return ACTIVE.includes(status.state) || at !== null || lost ? "" : explainUntrained(choice);
}

/** Whether no rule took a step. @param {State["view"]["status"]} status */
function isBrokenAtStart({ state, step }) {
  return state === "diverged" && !step;
}

/**
 * The sentence of the state, and what to do next.
 * @param {State} state
 * @param {boolean} isFaint whether curves of an earlier run are seen
 */
function wordsOf(state, isFaint) {
  const { choice, table, at, drawn } = state;
  const remark = state.remark && isFaint && at === null ? `${state.remark} ${FAINT}` : state.remark;
  const { status, notice, lost } = state.view;
  const promise = drawn && !isTableMissing(choice, table) ? promiseOf(choice) : "";
  const begins = status.state !== IDLE.state ? "" : choice.training.branch ? BRANCHES : promise;
  const past = at === null ? "" : `Step ${at} of a run that is at step ${status.step}.`;
  const lacks = status.state === IDLE.state && isTableMissing(choice, table);
  const refusal = refusalNow(state);
  if (refusal) return { main: refusal, next: "", state: "refused" };
  const main = notice || (lost ? cutOff() : past || (lacks ? NO_TABLE : status.sentence));
  const onward = past ? `${remark} ${BACK}`.trim() : remark || (NEXT[status.state] ?? begins);
  const next = lost ? notice && cutOff() : notice ? "" : onward;
  return { main, next, state: lost ? "lost" : notice ? "refused" : status.state };
}

/** The end of a race in a line; while it goes on there is none. @param {State["view"]["status"]} status */
function headlineOf({ state, headline, words }) {
  return OVER.includes(state) ? headline || (words.at(-1) ?? "") : "";
}

/** Whether rules were compared on held-out data with one seed, which proves little. @param {State} state */
function hasOneSeed(state) {
  const { status } = state.view;
  return metricOf(state) !== null && state.choice.rules.length > 1 && status.snapshot?.seeds === 1;
}

/** The work that a press on Start begins. @param {State["choice"]} choice */
function promiseOf(choice) {
  const steps = Number(getSetting(choice, "steps"));
  const pace = Number(getSetting(choice, "pace"));
  const time = pace ? `, about ${Math.max(Math.round(steps / pace), 1)} s` : "";
  const count = choice.rules.length;
  const all = count === 2 ? "both" : `all ${count}`;
  const start = count > 1 ? `; ${all} begin with the same weights` : "";
  return `${steps.toLocaleString("en-US")} steps${time}${start}.`;
}

/** The heading above the chart. @param {State["choice"]} choice @param {import("../charts/axes.js").Scale} scale */
function headingOf(choice, { title, banded, heldOut }) {
  const seeds = Number(getSetting(choice, "seeds"));
  const name = heldOut ? `Held-out ${title}` : `${title[0].toUpperCase()}${title.slice(1)}`;
  if (seeds === 1) return name;
  return `${name}: mean ${banded ? "± SD " : ""}of ${seeds} seeds`;
}

/** @param {State} state @param {Measure} measure @returns {import("../charts/axes.js").Scale} */
function scaleOf(state, measure) {
  const metric = metricOf(state);
  if (measure === "learned") {
    const whose = state.choice.training.learn_each === "channel" ? "mean over channels" : "value";
    return { kind: "plain", title: `${whose} of what learns`, chance: null, banded: false };
  }
  const banded = measure !== "norms";
  if (measure !== "score") {
    const title = measure === "loss" ? "loss" : "gradient norm";
    return { kind: "decades", title, chance: null, banded };
  }
  const common = { banded, heldOut: true, decimals: decimalsOf(state.view.status.judged) };
  if (metric !== "accuracy") return { kind: "fit", title: metric ?? "", chance: null, ...common };
  return { kind: "share", title: "accuracy, %", chance: taskOf(state.choice).chance, ...common };
}

/** As many decimals as the scores of the table have; undefined before there is one. @param {Object<string, string>} judged */
function decimalsOf(judged) {
  const [text = ""] = Object.values(judged);
  return /\.(\d+)/.exec(text)?.[1].length;
}

/**
 * @param {State} state as it was at the step that is looked at
 * @param {Measure} measure
 * @param {import("../state/records.js").Snapshot|null} latest
 * @returns {import("../charts/chart.js").Picture}
 */
function chartOf(state, measure, latest) {
  const { trained, view, at } = state;
  const { snapshot, words, recorded } = view.status;
  const now =
    trained && snapshot ? branchedSeriesOf(state, measure, { choice: trained, snapshot, recorded }) : [];
  const later =
    trained && latest && latest !== snapshot
      ? makeGhosts(
          branchedSeriesOf(state, measure, { choice: trained, snapshot: latest, recorded }),
          null,
          [],
        )
      : [];
  const past = measure === "norms" || measure === "learned" ? [] : findComparable(state);
  const before = past.flatMap((ghost) =>
    makeGhosts(branchedSeriesOf(state, measure, ghost), differenceOf(ghost.choice, state.choice), now),
  );
  const series = [...before, ...later, ...now];
  const scale = scaleOf(state, measure);
  return {
    run: `${view.id} ${before.length} ${measure}`,
    at,
    scale,
    series,
    steps: view.status.state === "diverged" ? lengthOf(series) : stepsOf(state),
    words: [`${headingOf(trained ?? state.choice, scale)}, over steps.`, ...words].join(" "),
    empty: remedyOf(state.choice) || emptyOf(measure, snapshot),
    legend: LEGENDS[measure],
  };
}

/**
 * The lines of a run with their branches.
 * @param {State} state
 * @param {Measure} measure
 * @param {Pick<PastRun, "choice"|"snapshot"|"recorded">} run
 */
function branchedSeriesOf({ colours }, measure, { choice, snapshot, recorded }) {
  const lines = legendOf(choice, colours);
  const points = pointsOf(recorded?.branch, keysOf(choice));
  const free = colours.find((colour) => lines.every((line) => line.colour !== colour)) ?? colours[0];
  return splitAtBranches(seriesOf(measure, snapshot, lines), points, lines, free);
}

/**
 * The text of a chart without a curve.
 * @param {Measure} measure
 * @param {import("../state/records.js").Snapshot|null} snapshot
 */
function emptyOf(measure, snapshot) {
  const begun = snapshot?.step || snapshot?.finished;
  const what = MISSING[measure];
  return begun
    ? `No ${what} is finite${measure === "score" || measure === "learned" ? "" : " and above 0"}`
    : `The ${what} appears here with the first step`;
}

/**
 * The steps of the longest series: a run that ended early fills its chart.
 * @param {Series[]} series
 */
function lengthOf(series) {
  return Math.max(0, ...series.map((each) => endOf(each)?.x ?? 0)) + 1;
}
