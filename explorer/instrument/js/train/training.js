// Training: the run of the chosen op and rules, with all that is seen of it.

import { queryOf } from "../choice/address.js";
import { entriesOf } from "../choice/choice.js";
import { catalogue } from "../choice/entries.js";
import { createExamples } from "../cards/examples.js";
import { createTrainChart } from "./chart.js";
import { createCommands } from "./commands.js";
import { lossSeries, normSeries } from "./data.js";
import { createHistogram, histogramWords } from "./histogram.js";
import { createRows } from "./rows.js";
import { ACTIVE, AT_REST, LOST, createRun } from "./run.js";
import { createSettings, settingText } from "./settings.js";

/** @typedef {import("../choice/choice.js").Choice} Choice */
/** @typedef {import("./run.js").View} View */

const REST_MS = 300; // of rest, before other settings begin a new run
const ANEW = "Other settings: the run has begun anew. The faint curves are the one before.";
const NORMS = "w1 solid, w2 dotted";
const OTHER = "Other settings: press Start. The faint curves are the run before.";

/**
 * @param {HTMLElement} host with the places of the skeleton
 * @param {ReturnType<typeof import("../choice/store.js").createStore>} store
 * @param {{server: (path: string) => string, plotly: string, colours: () => {rules: string[]}, examples: import("../cards/examples.js").Example[]}} reach
 */
export function createTraining(host, store, { server, plotly, colours, examples }) {
  const place = (/** @type {string} */ name) => /** @type {HTMLElement} */ (host.querySelector(`.${name}`));
  const now = () => /** @type {Choice} */ (store.choice);
  let view = /** @type {View|null} */ (null);
  let ghosts = /** @type {import("./chart.js").Series[]} */ ([]);
  let said = "";
  let chosen = "";
  let frame = 0;
  let timer = 0;
  let live = JSON.stringify(liveOf(now()));
  let drawnRules = /** @type {import("./rows.js").Rule[]} */ ([]);
  const run = createRun({ server, live: () => liveOf(now()), onChange: changed });
  const settings = createSettings({ live: place("live"), rest: place("settings") }, store);
  const menu = examples.length
    ? createExamples(examples, (choice) => store.change({ ...choice, section: now().section }))
    : null;
  if (menu) place("presets").append(menu.element);
  const loss = createTrainChart(place("loss"), { plotly, title: "loss" });
  const norms = createTrainChart(place("norms"), { plotly, title: "gradient norm" });
  const histogram = createHistogram(place("preactivations"), { plotly });
  const rows = createRows(place("measured"), (key) => {
    chosen = key;
    later();
  });
  const commands = createCommands(place("commands"), place("status"), {
    onStart: () => (isMine() && AT_REST.includes(run.status.state) ? run.resumeTraining() : begin()),
    onPause: run.pause,
    onResume: () => (isMine() ? run.resumeTraining() : begin()),
    onStep: () =>
      acted(
        isMine() && !LOST.includes(run.status.state)
          ? run.step
          : () => run.beginWithStep(queryOf(now()), keyOf(now())),
      ),
    onReset: () => acted(run.reset, true),
  });

  /** Whether the run has the settings that are shown, but for those that may change in mid-run. */
  function isMine() {
    return run.settingsKey === keyOf(now());
  }

  /** @param {() => void} act @param {boolean} [clean] whether earlier curves go */
  function acted(act, clean = false) {
    said = "";
    if (clean) ghosts = [];
    act();
  }

  function begin() {
    acted(() => run.begin(queryOf(now()), keyOf(now())));
  }

  /** @param {View} next */
  function changed(next) {
    view = next;
    later();
  }

  function later() {
    frame ||= requestAnimationFrame(draw);
  }

  /** @param {Choice} choice @param {{phase: string}} change */
  function follow(choice, { phase }) {
    const next = JSON.stringify(liveOf(choice));
    if (next !== live && run.settingsKey && [...ACTIVE, ...AT_REST].includes(run.status.state)) run.change();
    live = next;
    clearTimeout(timer);
    if (phase === "settled") timer = setTimeout(reconcile, REST_MS);
    later();
  }

  /** Other settings begin a run that goes on anew, and let go of one that does not. */
  function reconcile() {
    if (!run.settingsKey || isMine()) return;
    const active = ACTIVE.includes(run.status.state);
    const drawn = view?.status.snapshot ? lossSeries(view.status.snapshot, drawnRules) : [];
    ghosts = drawn.map(({ meta: _, ...series }) => ({ ...series, faint: true }));
    if (active) begin();
    else run.drop();
    said = active ? ANEW : OTHER;
  }

  function draw() {
    frame = 0;
    const choice = now();
    const { op, rules: entries } = entriesOf(choice);
    const bright = colours().rules;
    const rules = choice.rules.map(({ key, slot }, at) => ({
      key,
      label: entries[at].label,
      colour: bright[slot % bright.length],
    }));
    settings.show(choice);
    menu?.show(choice);
    const shown = view ?? /** @type {View} */ ({ status: run.status, notice: "", lost: false, id: null });
    const { snapshot, words } = shown.status;
    const mine = snapshot && rules.every(({ key }) => key in snapshot.losses) ? snapshot : null;
    if (mine && isMine()) drawnRules = rules;
    const steps = Number(settingText(choice, "steps"));
    const conclusion = shown.status.state === "finished" ? (words[words.length - 1] ?? "") : "";
    commands.show(shown, { steps, first: rules[0].key, conclusion, said });
    rows.show(rules, mine, rules.some(({ key }) => key === chosen) ? chosen : rules[0].key);
    const drawn = [...ghosts, ...(mine ? lossSeries(mine, rules) : [])];
    const empty = (/** @type {string} */ what) =>
      mine?.step || mine?.finished
        ? `No ${what} is finite and above 0`
        : `The ${what} appears here with the first step`;
    const common = {
      run: `${shown.id} ${ghosts.length}`,
      steps: shown.status.state === "diverged" ? lengthOf(drawn) : steps,
    };
    const spoken = ["Loss over steps.", ...words].join(" ");
    loss.draw({ ...common, series: drawn, words: spoken, empty: empty("loss") });
    norms.draw({
      ...common,
      series: mine ? normSeries(mine, rules) : [],
      words: `Gradient norms over steps: ${NORMS}.`,
      legend: NORMS,
      empty: empty("gradient norm"),
    });
    const at = Math.max(
      rules.findIndex(({ key }) => key === chosen),
      0,
    );
    const gradients = mine?.gradients[rules[at].key] ?? null;
    histogram.draw({
      run: shown.id,
      op,
      rule: entries[at],
      colour: rules[at].colour,
      parameters: choice.parameters,
      gradients,
      words: histogramWords(rules[at].label, gradients, mine !== null),
    });
  }

  const stop = store.subscribe(follow);
  if (isMine()) run.watch();
  else if (run.settingsKey) run.drop();
  draw();
  return {
    refresh: later,
    destroy() {
      stop();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      [run, loss, norms, histogram].forEach((part) => part.destroy());
    },
  };
}

/** How many steps the longest of some series goes: a run that broke off early shall fill its chart. @param {import("./chart.js").Series[]} series */
function lengthOf(series) {
  return Math.max(0, ...series.map(({ x }) => (x.length ? x[x.length - 1] : 0))) + 1;
}

/** The settings that may change while a run goes on. @param {Choice} choice @returns {Object<string, string>} */
function liveOf(choice) {
  const names = catalogue()
    .settings.filter((/** @type {*} */ setting) => setting.live)
    .map((/** @type {*} */ setting) => setting.name);
  return Object.fromEntries(names.map((/** @type {string} */ name) => [name, settingText(choice, name)]));
}

/** What begins a new run when it changes. @param {Choice} choice */
function keyOf(choice) {
  const lasting = Object.entries(choice.training).filter(([name]) => !(name in liveOf(choice)));
  return JSON.stringify([choice.op, choice.rules.map((rule) => rule.key), choice.parameters, lasting.sort()]);
}
