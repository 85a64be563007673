// Training: the run of the chosen op and rules. Its state
// goes from press to press, and is painted in between.

import { queryOf } from "../choice/address.js";
import { layersOf } from "./layers.js";
import { createMachine } from "./machine.js";
import { createPainter } from "./painter.js";
import { wantedOf } from "./panels.js";
import { caughtUp, isOnItsWay, packed, ratedChoice, scrubbed, unpacked } from "./past.js";
import { pictureOf } from "./picture.js";
import { inkOf } from "./pixels.js";
import { createRun } from "./run.js";
import { SEARCH } from "./searched.js";
import { keep, kept } from "../choice/session.js";
import { layerOf, positionText, recordKey } from "./slow.js";
import {
  stateOf,
  withBegun,
  withNumber,
  withOther,
  withRequest,
  withReset,
  withoutRequest,
} from "./state.js";
import { ACTIVE, AT_REST, LOST } from "./status.js";
import { liveOf, settingsKey, settingText, taskOf, withSetting } from "./tasks.js";

/** @typedef {import("../choice/choice.js").Choice} Choice */
/** @typedef {import("./state.js").State} State */

const SLOW = "slow_motion"; // the key of the instrument
const FIRST_STAGE = "input";
const REST_MS = 300; // of rest, before other settings begin a new run

/**
 * @param {HTMLElement} host with the places of the skeleton
 * @param {ReturnType<typeof import("../choice/store.js").createStore>} store
 * @param {{server: (path: string) => string, plotly: string, colours: () => {rules: string[]},
 *   examples: import("../cards/examples.js").Example[],
 *   onPresent: (present: import("../cards/cards.js").Present) => void}} reach
 */
export function createTraining(host, store, { server, plotly, colours, examples, onPresent }) {
  const now = () => /** @type {Choice} */ (store.choice);
  const theme = () => ({ colours: colours().rules, ink: inkOf(host) });
  let state = stateOf(now(), theme(), {
    table: kept("table") ?? "",
    panels: kept("panels") ?? {},
    numbers: kept("numbers") ?? {},
  });
  let frame = 0;
  let timer = 0;
  const run = createRun({ server, live, onChange: (view) => become({ view }) });
  const machine = createMachine({
    state: () => state,
    become,
    run,
    choose: store.change,
    goOn,
    table: onTable,
  });
  const painter = createPainter(host, { store, plotly, examples, onPresent }, { ...acts(), ...machine });

  /** @param {Partial<State>} change */
  function become(change) {
    state = { ...state, ...change };
    if (change.ghosts) keep("ghosts", packed(state.ghosts));
    run.show(wantedOf(state));
    record();
    catchUp();
    if (change.panels || change.numbers) machine.look();
    frame ||= requestAnimationFrame(paint);
  }

  function paint() {
    frame = 0;
    painter.paint(pictureOf(state));
  }

  /** What is shown, as it is to be trained. @returns {import("./run.js").Order} */
  function order() {
    const table = taskOf(now()).kind === "own" ? state.table : null;
    const branch = (now().training.branch ?? "").split("\n").filter(Boolean);
    return { query: queryOf(now()), branch, table, ...named(now()) };
  }

  /** @param {Choice} choice @returns {import("./run.js").Named} */
  function named(choice) {
    return { settingsKey: settingsKey(choice, state.table), lr: settingText(choice, "lr") };
  }

  /**
   * What goes with a command: a learning rate only where it is news to the run, since who goes by its branch
   * points must not be told what it began with.
   * @param {string} command
   */
  function live(command) {
    const { lr, ...others } = liveOf(now());
    const isFirst = state.trained && settingText(state.trained, "lr") !== lr && !isOnItsWay(state);
    const rate = command === "reset" || isFirst ? lr : state.rate;
    return { ...others, ...(rate !== null && { lr: rate }) };
  }

  /** Another learning rate in mid-run is a branch point once it is at rest. @param {string} rate @param {string} phase */
  function turn(rate, phase) {
    state = { ...state, rate };
    if (phase === "settled") rename(ratedChoice(now(), run.status.step, rate));
    become({});
    if (phase === "settled") run.change();
  }

  /** What is chosen says what the run has recorded of its way. */
  function catchUp() {
    const told = run.isBusy || !isMine() ? null : caughtUp(state);
    if (!told) return;
    state = { ...state, rate: null, trained: told };
    rename(told);
  }

  /** Another choice that is of the present run. @param {Choice} choice */
  function rename(choice) {
    run.rename(named(choice));
    store.change(choice, { thing: "lr" });
  }

  /** Whether the run has the settings that are shown, but for those that may change in mid-run. */
  function isMine() {
    return run.settingsKey === order().settingsKey;
  }

  function begin() {
    become(withBegun(state));
    run.begin(order());
  }

  /** @param {number} step of the present run that it goes on from */
  function goOn(step) {
    const { status } = scrubbed(state).view;
    become(withBegun(state));
    run.goOn(order(), step, status);
  }

  function stepFirst() {
    become(withBegun(state));
    run.beginWithStep(order());
  }

  /**
   * Ask an instrument, and show what it answers unless something else was asked meanwhile.
   * @param {string} key
   * @param {Object<string, number>} numbers
   */
  async function measure(key, numbers) {
    const { id, status } = scrubbed(state).view;
    const request = { numbers, step: status.step, run: id, answer: null };
    become(withRequest(state, key, request));
    const answer = (await run.measure(key, numbers, state.at)) ?? {
      message: "Press Start first: there is no run yet.",
    };
    if (state.requests[key] === request) become(withRequest(state, key, { ...request, answer }));
  }

  /** Have what slow motion shows recorded, once for each step, layer and rate. */
  async function record() {
    const key = recordKey(state);
    if (!state.choice.slow && state.slow) state = { ...state, slow: null };
    if (key === null || run.isBusy || state.slow?.key === key) return;
    const before = state.slow?.answer ?? null;
    state = { ...state, slow: { key, answer: null, before } };
    const answer = await run.measure(SLOW, { layer: layerOf(state.choice.slow) });
    if (state.slow?.key === key) become({ slow: { key, answer, before: null } });
  }

  /** @param {import("./slow.js").Position|null} position */
  function showSlow(position) {
    store.change({ ...now(), slow: position ? positionText(position) : "" }, { thing: "slow" });
  }

  /** Look at the next step: of a run that goes on once it is paused, and without one at its first. */
  function openSlow() {
    const { state: name } = run.status;
    if (!isMine() || LOST.includes(name)) firstStep();
    else if (ACTIVE.includes(name)) run.pause();
    store.change({ ...now(), slow: FIRST_STAGE }, { thing: "slow" });
  }

  function firstStep() {
    become(withBegun(state));
    run.beginAtRest(order());
  }

  /**
   * What the visitor does, each by its button. A press looks
   * at the settings itself: they may be news to the run.
   */
  function acts() {
    return {
      onStart: () => (isMine() && AT_REST.includes(run.status.state) ? run.resumeTraining() : begin()),
      onPause: run.pause,
      onResume: () => (isMine() ? run.resumeTraining() : begin()),
      onStep: () => (isMine() && !LOST.includes(run.status.state) ? run.step() : stepFirst()),
      onReset() {
        become(withReset(state));
        run.reset();
      },
      onSetting(/** @type {string} */ name, /** @type {string} */ text, /** @type {*} */ phase) {
        if (name === "lr" && isMine() && isOnItsWay(state)) turn(text, phase);
        else store.change(withSetting(now(), name, text), { phase, thing: name });
      },
      onMeasure: (/** @type {import("./series.js").Measure} */ measure) => become({ measure }),
      onAligned: (/** @type {import("./aligned.js").Aligned} */ aligned) => become({ aligned }),
      onLayer: (/** @type {number} */ layer) => become({ layer }),
      onPanel(/** @type {string} */ key, /** @type {boolean} */ open) {
        const panels = { ...state.panels, [key]: open };
        keep("panels", panels);
        become({ panels });
        if (open && key === SEARCH) measure(SEARCH, {});
      },
      onNumber(/** @type {string} */ key, /** @type {string} */ name, /** @type {number} */ value) {
        become(withNumber(state, key, name, value));
        keep("numbers", state.numbers);
      },
      onSlowMotion: openSlow,
      onSlow: showSlow,
      onFirst: firstStep,
      onAgain: () => become({ slow: null }),
      onSearch: () => void measure(SEARCH, {}),
      onLegend(
        /** @type {import("./panel.js").Panel} */ { request = "", legend = [] },
        /** @type {number} */ place,
      ) {
        const { chosen: layer } = layersOf(state);
        const numbers = { layer, ...legend[place].numbers };
        const same = JSON.stringify(state.requests[request]?.numbers) === JSON.stringify(numbers);
        if (same) become(withoutRequest(state, request));
        else measure(request, numbers);
      },
      onTable,
    };
  }

  /** @param {string} table */
  function onTable(table) {
    keep("table", table);
    become({ table });
    reconcile();
  }

  /** @param {Choice} choice @param {{phase: string}} change */
  function follow(choice, { phase }) {
    const isSame = JSON.stringify(liveOf(choice)) === JSON.stringify(liveOf(state.choice));
    if (!isSame && run.settingsKey && !LOST.includes(run.status.state)) run.change();
    if (isMine()) run.rename(named(choice)); // its lr may have changed before the first step
    become({ choice });
    clearTimeout(timer);
    if (phase === "settled") timer = setTimeout(reconcile, REST_MS);
  }

  /** Other settings begin a run that goes on anew, and let go of one that does not. */
  function reconcile() {
    if (!run.settingsKey || isMine()) return;
    const goesOn = ACTIVE.includes(run.status.state);
    become(withOther(state));
    if (goesOn) run.begin(order());
    else run.drop();
  }

  const stop = store.subscribe(follow);
  if (isMine() && Number(run.lr) === Number(order().lr)) {
    become({ ...withBegun(state), ghosts: unpacked(kept("ghosts")) });
    run.watch();
  } else if (run.settingsKey) run.drop();
  paint();
  return {
    refresh: () => become(theme()),
    destroy() {
      stop();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      run.destroy();
      painter.destroy();
    },
  };
}
