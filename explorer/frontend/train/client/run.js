// The run of this browser session: commands show their effect at once, then the server's events follow.

import { requestJson, postJson, downloadAnswer } from "../../choice/server.js";
import { saveInSession, loadFromSession, getOwner } from "../../choice/session.js";
import { createWatcher } from "./watcher.js";
import { decodeArrays } from "../state/series.js";
import { ACTIVE, AT_REST, IDLE, OVER, sentenceOf, withMeasured } from "../state/status.js";

/** @import { Event, Status, View } from "../state/status.js" */
/** @import { RunSettings, Order } from "./request.js" */
/**
 * A run that was started. @typedef {RunSettings & {id: string, key: string}} StartedRun
 */

const NO_RUN = { message: "There is no run yet, or it has ended: press Start." };
const KEEPS_PICTURE = ["gone", "silent", "failed", "crowded"]; // states without a snapshot: the last one is kept

/**
 * Create the session's run.
 * @param {{server: (path: string) => string, live: (name: string) => Object<string, string>,
 *   onChange: (view: View) => void}} options ``live`` returns the settings to send with a command
 */
export function createRun({ server, live, onChange }) {
  let run = /** @type {StartedRun|null} */ (loadFromSession("run"));
  // The settings key of the run that exists after all pending requests.
  let intended = /** @type {string|null} */ (null);
  let changing = false; // whether a change of lr or pace is waiting to be sent
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
      watched.close(); // the server has deleted the run: keep its last picture
      return;
    }
    const { status: last, lost, notice } = watched.view;
    const status = withMeasured(decodeArrays(event), last);
    const keeps = KEEPS_PICTURE.includes(status.state) && !status.snapshot;
    const { state, sentence } = status;
    if (![...ACTIVE, ...AT_REST, "silent"].includes(state)) watched.close(); // before a listener of show requests more
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

  /** Return the settings key of the run that was requested last. */
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

  /** Send changed settings to the run; several changes before the request is sent become one. */
  function change() {
    if (changing) return;
    changing = true;
    watched.inTurn(async () => {
      changing = false;
      const answer = await sendCommand("change");
      if (answer?.message) watched.show({ notice: answer.message });
      else if (OVER.includes(watched.view.status.state)) watched.open(); // the server measures the nets again
    });
  }

  return {
    /** The key of the present run's settings; null without a run. */
    get settingsKey() {
      return getSettingsKey();
    },
    /** The initial learning rate of the present run; null without a run. */
    get lr() {
      return run && run.lr;
    },
    get status() {
      return watched.view.status;
    },
    /**
     * Set the settings of the present run, after changes during training have become part of the choice.
     * @param {RunSettings} named
     */
    rename({ settingsKey, lr }) {
      intended = settingsKey;
      run = run && { ...run, settingsKey, lr };
      saveInSession("run", run);
    },
    /** Watch the run that this session started before the page was reloaded, and send it the present settings. */
    watch() {
      watched.open();
      change();
    },
    /** @param {Order} order */
    begin: (order) => startNew(order, { ...IDLE, state: "running", sentence: "Starting." }, false),
    /**
     * Start a run that continues from a step of the present one; show that step until the run has started.
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
    /** Start a paused run and take its first step. @param {Order} order */
    beginWithStep(order) {
      const takeFirstStep = async () => {
        const answer = await requestStart(order, true);
        return run ? sendCommand("step") : answer;
      };
      act({ ...IDLE, state: "paused", sentence: "Taking the first step." }, takeFirstStep, order.settingsKey);
    },
    /** Start a paused run at step 0. @param {Order} order */
    beginAtRest: (order) => startNew(order, { ...IDLE, state: "ready", sentence: sentenceOf("ready") }, true),
    /** Whether commands are pending at the server. */
    get isBusy() {
      return watched.isBusy;
    },
    pause: () =>
      act({ state: "paused", sentence: sentenceOf("paused", watched.view.status.step) }, () =>
        sendCommand("pause"),
      ),
    resumeTraining: () =>
      act({ state: "running", sentence: sentenceOf("running") }, () => sendCommand("resume")),
    step() {
      const moving = ACTIVE.includes(watched.view.status.state);
      act({ state: "paused", sentence: "Taking one step." }, async () =>
        moving ? (await sendCommand("pause"), sendCommand("step")) : sendCommand("step"),
      );
    },
    reset: () =>
      act({ ...IDLE, state: run ? "ready" : "idle", sentence: sentenceOf("ready") }, async () => {
        const answer = await sendCommand("reset");
        if (answer?.state === "gone") clearRun();
        return run ? answer : null;
      }),
    change,
    /**
     * Return an instrument's answer for the present nets, by rule, or a message.
     * @param {string} key
     * @param {Object<string, number>} numbers its arguments
     * @param {number|null} [at] the checkpoint to measure at, instead of the present step
     */
    async measure(key, numbers, at = null) {
      const numbered = Object.entries({ ...numbers, ...(at !== null && { at }) });
      const query = new URLSearchParams(numbered.map(([name, value]) => [name, String(value)]));
      return run && decodeArrays(await requestJson(server(`runs/${run.id}/measured/${key}?${query}`)));
    },
    /** Return the status of the run at a checkpoint, or a message if it is gone. @param {number} step */
    async look(step) {
      return run
        ? decodeArrays(await requestJson(server(`runs/${run.id}/at/${step}?${toShowQuery()}`)))
        : NO_RUN;
    },
    /** Save a file of the run through the browser; return a message if that fails. @param {string} file its name */
    take: async (file) =>
      run ? downloadAnswer(server(`runs/${run.id}/files/${file}`), { key: run.key }, file) : NO_RUN.message,
    /** Parse exported settings; return the choice in them, or a message. @param {string} text */
    open: (text) => postJson(server("settings"), { text }),
    /** Request that every event from now includes these instruments. @param {string[]} keys */
    show(keys) {
      if (keys.join() === questions.join()) return;
      questions = keys;
      if (!watched.isBusy && watched.view.id) watched.open();
    },
    /** Stop the run and forget it, because other settings are chosen. */
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
