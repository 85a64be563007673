// Controls the training run of this browser session. Commands show their expected effect immediately.

import { requestJson, postJson, downloadAnswer } from "../../choice/server.js";
import { saveInSession, loadFromSession, getOwner } from "../../choice/session.js";
import { createWatcher } from "./watcher.js";
import { decodeArrays } from "../state/series.js";
import { ACTIVE, AT_REST, IDLE, OVER, getSentence, withMeasured } from "../state/status.js";

/** @import { Event, Status, View } from "../state/status.js" */
/** @import { RunSettings, Order } from "./request.js" */
/**
 * A training run that this browser session has started.
 * @typedef {RunSettings & {id: string, key: string}} StartedRun
 */

const NO_RUN = { message: "There is no run yet, or it has ended: press Start." };
const KEEPS_PICTURE = ["gone", "silent", "failed", "crowded"]; // in these states, the last snapshot of the nets stays visible

/**
 * Create a client that starts, controls and watches the training run of this browser session.
 * @param {{server: (path: string) => string, live: (name: string) => Object<string, string>,
 *   onChange: (view: View) => void}} options ``live`` returns the settings to send with a command
 */
export function createRun({ server, live, onChange }) {
  let run = /** @type {StartedRun|null} */ (loadFromSession("run"));
  // The settings key of the run that will exist once all pending requests are answered.
  let intended = /** @type {string|null} */ (null);
  let changing = false; // whether a changed learning rate or pace has not been sent yet
  let questions = /** @type {string[]} */ ([]);
  const toShowQuery = () => new URLSearchParams(questions.map((key) => ["show", key]));
  const watched = createWatcher({
    idle: IDLE,
    address: (id) => server(`runs/${id}/events?${toShowQuery()}`),
    current: () => run,
    onChange,
    onEvent,
    needsWatching: (/** @type {Status} */ { state }) => !OVER.includes(state),
  });

  /** @param {Event} event */
  function onEvent(event) {
    if (event.state === "gone" && OVER.includes(watched.view.status.state)) {
      watched.close(); // the server has deleted the finished run, whose charts stay visible
      return;
    }
    const { status: last, lost, notice } = watched.view;
    const status = withMeasured(decodeArrays(event), last);
    const keeps = KEEPS_PICTURE.includes(status.state) && !status.snapshot;
    const { state, sentence } = status;
    if (![...ACTIVE, ...AT_REST, "silent"].includes(state)) watched.close(); // must come first: show() may open the stream again
    watched.show({
      status: keeps ? { ...last, state, sentence, steps_per_second: 0 } : status,
      notice: lost ? "" : notice,
      lost: false,
    });
  }

  /**
   * @param {Partial<Status>} soon
   * @param {() => Promise<*>} ask
   * @param {string|null} [settingsKey] of the run that exists afterwards
   */
  function act(soon, ask, settingsKey = getSettingsKey()) {
    intended = settingsKey;
    watched.act(soon, ask);
  }

  /** Return the settings key of the training run that was requested last. */
  function getSettingsKey() {
    return watched.isBusy ? intended : run && run.settingsKey;
  }

  /** @param {string} name */
  async function sendCommand(name) {
    return run && postJson(server(`runs/${run.id}/${name}`), { key: run.key, ...live(name) });
  }

  /** @param {Order} order @param {boolean} paused @param {number|null} [step] of the present run to continue from */
  async function requestStart({ query, table, branch, settingsKey, lr }, paused, step = null) {
    const parent = run && step !== null ? { run: run.id, key: run.key, step } : null;
    const answer = await postJson(server("runs"), {
      query,
      branch,
      owner: getOwner(),
      paused,
      ...(table !== null && { table }),
      ...(parent && { after: parent }),
    });
    run = answer.id ? { ...answer, settingsKey: intended ?? settingsKey, lr } : null;
    saveInSession("run", run);
    return answer;
  }

  /** @param {Order} order @param {Partial<Status>} soon @param {boolean} paused @param {number} [step] */
  function startNew(order, soon, paused, step) {
    act(soon, () => requestStart(order, paused, step), order.settingsKey);
  }

  /** Send changed training settings to the run. Changes made before the request is sent are combined into one. */
  function change() {
    if (changing) return;
    changing = true;
    watched.inTurn(async () => {
      changing = false;
      const answer = await sendCommand("change");
      if (answer?.message) watched.show({ notice: answer.message });
      else if (OVER.includes(watched.view.status.state)) watched.open(); // the server measures a finished run's nets again
    });
  }

  return {
    /** The settings key of the current training run, or null if there is no run. */
    get settingsKey() {
      return getSettingsKey();
    },
    /** The initial learning rate of the current training run, or null if there is no run. */
    get lr() {
      return run && run.lr;
    },
    get status() {
      return watched.view.status;
    },
    /**
     * Store new settings for the current training run without restarting it, after changes made during training have
     * become part of the page's settings.
     * @param {RunSettings} named
     */
    rename({ settingsKey, lr }) {
      intended = settingsKey;
      run = run && { ...run, settingsKey, lr };
      saveInSession("run", run);
    },
    /**
     * Continue to follow the training run that was started before the page was reloaded, and send it the current settings.
     *
     */
    watch() {
      watched.open();
      change();
    },
    /** @param {Order} order */
    begin: (order) => startNew(order, { ...IDLE, state: "running", sentence: "Starting." }, false),
    /**
     * Start a training run that continues from one step of the current run. That step stays visible until the new run
     * has started.
     * @param {Order} order
     * @param {number} step
     * @param {Partial<Status>} displayed
     */
    goOn: (order, step, displayed) =>
      startNew(
        order,
        { ...displayed, state: "running", sentence: `Going on from step ${step}.` },
        false,
        step,
      ),
    /** Start a training run that pauses after its first step. @param {Order} order */
    beginWithStep(order) {
      const takeFirstStep = async () => {
        const answer = await requestStart(order, true);
        return run ? sendCommand("step") : answer;
      };
      act({ ...IDLE, state: "paused", sentence: "Taking the first step." }, takeFirstStep, order.settingsKey);
    },
    /** Start a training run that is paused at step 0. @param {Order} order */
    beginAtRest: (order) =>
      startNew(order, { ...IDLE, state: "ready", sentence: getSentence("ready") }, true),
    /** Whether the server has yet to answer a command. */
    get isBusy() {
      return watched.isBusy;
    },
    pause: () =>
      act({ state: "paused", sentence: getSentence("paused", watched.view.status.step) }, () =>
        sendCommand("pause"),
      ),
    resumeTraining: () =>
      act({ state: "running", sentence: getSentence("running") }, () => sendCommand("resume")),
    step() {
      const moving = ACTIVE.includes(watched.view.status.state);
      act({ state: "paused", sentence: "Taking one step." }, async () =>
        moving ? (await sendCommand("pause"), sendCommand("step")) : sendCommand("step"),
      );
    },
    reset: () =>
      act({ ...IDLE, state: run ? "ready" : "idle", sentence: getSentence("ready") }, async () => {
        const answer = await sendCommand("reset");
        if (answer?.state === "gone") clearRun();
        return run ? answer : null;
      }),
    change,
    /**
     * Have the server measure the current nets with one instrument. Returns a dict from backward rules to
     * measurements, or a message if they are not available.
     * @param {string} key
     * @param {Object<string, number>} numbers its arguments
     * @param {number|null} [at] the checkpoint to measure at, instead of the present step
     */
    async measure(key, numbers, at = null) {
      const numbered = Object.entries({ ...numbers, ...(at !== null && { at }) });
      const query = new URLSearchParams(numbered.map(([name, value]) => [name, String(value)]));
      return run && decodeArrays(await requestJson(server(`runs/${run.id}/measured/${key}?${query}`)));
    },
    /** Fetch the training run's status at a checkpoint, or a message if there is none. @param {number} step */
    async look(step) {
      return run
        ? decodeArrays(await requestJson(server(`runs/${run.id}/at/${step}?${toShowQuery()}`)))
        : NO_RUN;
    },
    /** Download a file of the training run. Returns a message if the download fails. @param {string} file its name */
    take: async (file) =>
      run ? downloadAnswer(server(`runs/${run.id}/files/${file}`), { key: run.key }, file) : NO_RUN.message,
    /** Have the server parse exported settings. Returns them, or a message if they are invalid. @param {string} text */
    open: (text) => postJson(server("settings"), { text }),
    /**
     * Choose the instruments whose measurements every further event from the server includes.
     * @param {string[]} keys
     */
    show(keys) {
      if (keys.join() === questions.join()) return;
      questions = keys;
      if (!watched.isBusy && watched.view.id) watched.open();
    },
    /** Stop the current training run and forget it, because other settings have been chosen. */
    drop() {
      const stopRun = async () => {
        await sendCommand("stop");
        clearRun();
      };
      act(IDLE, stopRun, null);
    },
    destroy: watched.destroy,
  };

  function clearRun() {
    run = null;
    saveInSession("run", null);
  }
}
