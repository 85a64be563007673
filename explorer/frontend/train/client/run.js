// Commands to the training run of this browser tab. The page shows the expected effect of a command at once.

import { requestJson, postJson, downloadAnswer } from "../../choice/server.js";
import { saveInSession, loadFromSession, getOwner } from "../../choice/session.js";
import { createWatcher } from "./watcher.js";
import { decodeArrays } from "../state/series.js";
import { ACTIVE, AT_REST, IDLE, OVER, getSentence, withMeasured } from "../state/status.js";

/** @import { Event, Status, View } from "../state/status.js" */
/** @import { RunSettings, Order } from "./request.js" */
/**
 * A run that this tab has started, perhaps before a reload of the page. ``key``: the secret that allows to control it.
 * @typedef {RunSettings & {id: string, key: string}} StartedRun
 */

const NO_RUN = { message: "There is no run yet, or it has ended: press Start." };
const MAX_FINISHED = 8; // finished runs that can come back, each with its curves
// in these states, the last measurements of the nets stay visible
const KEEPS_PICTURE = ["gone", "silent", "failed", "crowded"];

/**
 * Create a client that starts, controls and follows the training run of this browser tab.
 * @param {{server: (path: string) => string, live: (name: string) => Object<string, string>, onChange: (view: View) =>
 *   void}} options ``live``: returns the settings to send with a command; ``onChange``: called with each state
 */
export function createRun({ server, live, onChange }) {
  let run = /** @type {StartedRun|null} */ (loadFromSession("run"));
  // The settings key of the run once all pending requests are answered.
  let intended = /** @type {string|null} */ (null);
  const finished = /** @type {Map<string, {run: StartedRun, status: Status}>} */ (new Map());
  let changing = false; // whether a changed learning rate or pace is still to be sent
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
      watched.close(); // the server has deleted the finished run; its charts stay
      return;
    }
    const { status: last, lost, notice } = watched.view;
    const status = withMeasured(decodeArrays(event), last);
    const keeps = KEEPS_PICTURE.includes(status.state) && !status.snapshot;
    const { state, sentence } = status;
    // before show(), which may open the stream again
    if (![...ACTIVE, ...AT_REST, "silent"].includes(state)) watched.close();
    watched.show({
      status: keeps ? { ...last, state, sentence, steps_per_second: 0 } : status,
      notice: lost ? "" : notice,
      lost: false,
    });
  }

  /**
   * Show the expected effect of a command, and send it. A finished run that it leaves can come back.
   * @param {Partial<Status>} soon the expected status @param {() => Promise<*>} ask sends the request
   * @param {string|null} [settingsKey] the key of the run after the command, or null without one
   */
  function act(soon, ask, settingsKey = getSettingsKey()) {
    const { status } = watched.view;
    if (run && OVER.includes(status.state)) finished.set(namePresent(), { run, status });
    for (const name of [...finished.keys()].slice(0, -MAX_FINISHED)) finished.delete(name);
    intended = settingsKey;
    return watched.act(soon, ask);
  }

  /** Return a name for a run with these settings. @param {string|null} settingsKey @param {string} [lr] */
  const nameRun = (settingsKey, lr) => JSON.stringify([settingsKey, Number(lr)]);

  /** Return the name of the present run, with the rate that it began with. */
  const namePresent = () => nameRun(getSettingsKey(), watched.view.status.recorded?.lr ?? run?.lr);

  /** Return the settings key that the run will have after all pending requests, or null without a run. */
  function getSettingsKey() {
    return watched.isBusy ? intended : run && run.settingsKey;
  }

  /** @param {string} name */
  async function sendCommand(name) {
    return run && postJson(server(`runs/${run.id}/${name}`), { key: run.key, ...live(name) });
  }

  /**
   * @param {Order} order @param {boolean} paused whether the run starts paused
   * @param {number|null} [step] the step of the present run from which the new one continues
   */
  async function requestStart({ query, table, branch, settingsKey, lr }, paused, step = null) {
    saveInSession("run", null); // the server replaces it, also if the page is reloaded before the answer
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

  /**
   * Start a run in place of the present one, and show the expected status. Resolves to the server's answer.
   * @param {Order} order @param {Partial<Status>} soon expected status
   * @param {boolean} paused whether the run starts paused
   * @param {number} [step] the step of the present run from which the new one continues
   */
  function startNew(order, soon, paused, step) {
    return act(soon, () => requestStart(order, paused, step), order.settingsKey);
  }

  /** Send changed settings to the run. Changes made before the request is sent are combined. */
  function change() {
    if (changing) return;
    changing = true;
    watched.inTurn(async () => {
      changing = false;
      const answer = await sendCommand("change");
      if (answer?.message) watched.show({ notice: answer.message });
      else if (OVER.includes(watched.view.status.state)) watched.open(); // a finished run's nets are measured again
    });
  }

  return {
    /** The settings key of the present run, or null without a run. */
    get settingsKey() {
      return getSettingsKey();
    },
    /** The initial learning rate of the present run, or null without a run. */
    get lr() {
      return run && run.lr;
    },
    get status() {
      return watched.view.status;
    },
    /**
     * Store new settings as those of the present run, without a restart. Used after changes made during training have
     * become part of the page's settings.
     * @param {RunSettings} named
     */
    rename({ settingsKey, lr }) {
      intended = settingsKey;
      run = run && { ...run, settingsKey, lr };
      saveInSession("run", run);
    },
    /** Follow the run that was started before a reload of the page, and send it the current settings. */
    watch() {
      watched.open();
      change();
    },
    /** @param {Order} order */
    begin: (order) => startNew(order, { ...IDLE, state: "running", sentence: "Starting." }, false),
    /**
     * Start a run that continues from a step of the present one. That step stays visible until then.
     * @param {Order} order @param {number} step @param {Partial<Status>} displayed the status at the step
     */
    goOn: (order, step, displayed) =>
      startNew(
        order,
        { ...displayed, state: "running", sentence: `Continuing from step ${step}.` },
        false,
        step,
      ),
    /** Start a training run that pauses after its first step. @param {Order} order */
    beginWithStep(order) {
      const takeFirstStep = async () => {
        const answer = await requestStart(order, true);
        return run ? sendCommand("step") : answer;
      };
      return act(
        { ...IDLE, state: "paused", sentence: "Taking the first step." },
        takeFirstStep,
        order.settingsKey,
      );
    },
    /** Start a training run that is paused at step 0. @param {Order} order */
    beginAtRest: (order) =>
      startNew(order, { ...IDLE, state: "ready", sentence: getSentence("ready") }, true),
    /** Whether a command has not been answered yet. */
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
      act({ state: "paused", sentence: "Taking one step." }, async () => {
        if (moving) await sendCommand("pause");
        return sendCommand("step");
      });
    },
    reset: () =>
      act({ ...IDLE, state: run ? "ready" : "idle", sentence: getSentence("ready") }, async () => {
        const answer = await sendCommand("reset");
        if (answer?.state === "gone") clearRun();
        finished.clear(); // the server has it no longer
        return run ? answer : null;
      }),
    change,
    /**
     * Have the server measure the nets with one instrument. Resolves to the measurement of each rule by key, to a
     * ``message`` on failure, or to null without a run.
     * @param {string} key the instrument's key @param {Object<string, number>} numbers its arguments
     * @param {number|null} [at] a checkpoint, by default the present step
     */
    async measure(key, numbers, at = null) {
      const numbered = Object.entries({ ...numbers, ...(at !== null && { at }) });
      const query = new URLSearchParams(numbered.map(([name, value]) => [name, String(value)]));
      return run && decodeArrays(await requestJson(server(`runs/${run.id}/measured/${key}?${query}`)));
    },
    /** Fetch the run's status at a checkpoint. Resolves to a ``message`` on failure. @param {number} step */
    async look(step) {
      return run
        ? decodeArrays(await requestJson(server(`runs/${run.id}/at/${step}?${toShowQuery()}`)))
        : NO_RUN;
    },
    /** Download a file of the run. Resolves to "", or to an error message. @param {string} file its name */
    take: async (file) =>
      run ? downloadAnswer(server(`runs/${run.id}/files/${file}`), { key: run.key }, file) : NO_RUN.message,
    /** Have the server parse exported settings. Resolves to them, or a ``message`` on failure. @param {string} text */
    open: (text) => postJson(server("settings"), { text }),
    /**
     * Choose the measurements to receive with the run's events.
     * @param {string[]} keys instruments, each with its arguments
     */
    show(keys) {
      if (keys.join() === questions.join()) return;
      questions = keys;
      if (!watched.isBusy && watched.view.id) watched.open();
    },
    /** Remove the message that says why the last action failed. */
    clearNotice: () => watched.show({ notice: "" }),
    /** Stop the run and forget it, after other settings have been chosen. */
    drop() {
      const stopRun = async () => {
        await sendCommand("stop");
        clearRun();
      };
      act(IDLE, stopRun, null);
    },
    /** Return a function that returns to another run, finished with these settings, or null. @param {Order} order */
    findFinished({ settingsKey, lr }) {
      const name = nameRun(settingsKey, lr);
      const known = finished.get(name);
      if (!known || name === namePresent()) return null;
      const takeUp = async () => {
        await sendCommand("stop");
        run = { ...known.run, settingsKey, lr };
        saveInSession("run", run);
        watched.show({}); // with its id
      };
      return () => act(known.status, takeUp, settingsKey).then(watched.open); // its nets are measured again
    },
    destroy: watched.destroy,
  };

  function clearRun() {
    run = null;
    saveInSession("run", null);
  }
}
