// The session's run: what is pressed shows at once, and then what the server says.

import { requestJson, postJson, downloadAnswer } from "../../choice/server.js";
import { saveInSession, loadFromSession, getOwner } from "../../choice/session.js";
import { createWatched } from "./watched.js";
import { withArrays } from "../state/series.js";
import { ACTIVE, AT_REST, IDLE, OVER, sentenceOf, withMeasured } from "../state/status.js";

/** @import { Event, Status, View } from "../state/status.js" */
/** @import { Named, Order } from "./request.js" */
/**
 * A run that was started. @typedef {Named & {id: string, key: string}} Started
 */

const GONE = { message: "There is no run yet, or it has ended: press Start." };
const KEEPS_PICTURE = ["gone", "silent", "failed", "crowded"]; // their events come without what was displayed last

/**
 * ``live`` gives the settings that may change in mid-run, for a command: each carries them.
 * @param {{server: (path: string) => string, live: (name: string) => Object<string, string>,
 *   onChange: (view: View) => void}} options
 */
export function createRun({ server, live, onChange }) {
  let run = /** @type {Started|null} */ (loadFromSession("run"));
  // The settings of the run there is once all that waits is done.
  let intended = /** @type {string|null} */ (null);
  let changing = false; // a change of lr or pace is not yet sent
  let questions = /** @type {string[]} */ ([]);
  const asked = () => new URLSearchParams(questions.map((key) => ["show", key]));
  const watched = createWatched({
    idle: IDLE,
    address: (id) => server(`runs/${id}/events?${asked()}`),
    current: () => run,
    onChange,
    onEvent,
    needsWatching: (/** @type {Status} */ { state }) => !OVER.includes(state),
  });

  /** @param {Event} event */
  function onEvent(event) {
    if (event.state === "gone" && OVER.includes(watched.view.status.state)) {
      watched.close(); // forgotten by the server: what was displayed of it stays
      return;
    }
    const { status: last, lost, notice } = watched.view;
    const status = withMeasured(withArrays(event), last);
    const keeps = KEEPS_PICTURE.includes(status.state) && !status.snapshot;
    const { state, sentence } = status;
    if (![...ACTIVE, ...AT_REST, "silent"].includes(state)) watched.close(); // before somebody asks for more
    watched.show({
      status: keeps ? { ...last, state, sentence, steps_per_second: 0 } : status,
      notice: lost ? "" : notice,
      lost: false,
    });
  }

  /**
   * @param {Partial<Status>} soon
   * @param {() => Promise<*>} ask
   * @param {string|null} [settingsKey] of the run there is then
   */
  function act(soon, ask, settingsKey = keyNow()) {
    intended = settingsKey;
    watched.act(soon, ask);
  }

  /** The key of the settings of the run that was requested last. */
  function keyNow() {
    return watched.isBusy ? intended : run && run.settingsKey;
  }

  /** @param {string} name */
  async function commanded(name) {
    return run && postJson(server(`runs/${run.id}/${name}`), { key: run.key, ...live(name) });
  }

  /** @param {Order} order @param {boolean} paused @param {number|null} [step] of the run it goes on from */
  async function started({ query, table, branch, settingsKey, lr }, paused, step = null) {
    const after = run && step !== null ? { run: run.id, key: run.key, step } : null;
    const answer = await postJson(server("runs"), {
      query,
      branch,
      owner: getOwner(),
      paused,
      ...(table !== null && { table }),
      ...(after && { after }),
    });
    run = answer.id ? { ...answer, settingsKey: intended ?? settingsKey, lr } : null;
    saveInSession("run", run);
    return answer;
  }

  /** @param {Order} order @param {Partial<Status>} soon @param {boolean} paused @param {number} [step] */
  function anew(order, soon, paused, step) {
    act(soon, () => started(order, paused, step), order.settingsKey);
  }

  /** Go on with another lr or pace; of many changes in a row the last one counts. */
  function change() {
    if (changing) return;
    changing = true;
    watched.inTurn(async () => {
      changing = false;
      const answer = await commanded("change");
      if (answer?.message) watched.show({ notice: answer.message });
      else if (OVER.includes(watched.view.status.state)) watched.open(); // it is measured anew
    });
  }

  return {
    /** The key of the present run's settings; null where there is no run. */
    get settingsKey() {
      return keyNow();
    },
    /** The learning rate that the present run begins with. */
    get lr() {
      return run && run.lr;
    },
    get status() {
      return watched.view.status;
    },
    /**
     * Give the present run the key of other settings, which include the changes on its way.
     * @param {Named} named
     */
    rename({ settingsKey, lr }) {
      intended = settingsKey;
      run = run && { ...run, settingsKey, lr };
      saveInSession("run", run);
    },
    /** Watch the run that this session started before the page was loaded; it goes on with the present settings. */
    watch() {
      watched.open();
      change();
    },
    /** @param {Order} order */
    begin: (order) => anew(order, { ...IDLE, state: "running", sentence: "Starting." }, false),
    /**
     * Begin a run that goes on from a step of the present one; until it is there, that step is displayed.
     * @param {Order} order
     * @param {number} step
     * @param {Partial<Status>} displayed
     */
    goOn: (order, step, displayed) =>
      anew(order, { ...displayed, state: "running", sentence: `Going on from step ${step}.` }, false, step),
    /** Begin at rest and take the first step. @param {Order} order */
    beginWithStep(order) {
      const first = async () => {
        const answer = await started(order, true);
        return run ? commanded("step") : answer;
      };
      act({ ...IDLE, state: "paused", sentence: "Taking the first step." }, first, order.settingsKey);
    },
    /** Begin at rest, before the first step. @param {Order} order */
    beginAtRest: (order) => anew(order, { ...IDLE, state: "ready", sentence: sentenceOf("ready") }, true),
    /** Whether the server has not yet done all that was pressed. */
    get isBusy() {
      return watched.isBusy;
    },
    pause: () =>
      act({ state: "paused", sentence: sentenceOf("paused", watched.view.status.step) }, () =>
        commanded("pause"),
      ),
    resumeTraining: () =>
      act({ state: "running", sentence: sentenceOf("running") }, () => commanded("resume")),
    step() {
      const moving = ACTIVE.includes(watched.view.status.state);
      act({ state: "paused", sentence: "Taking one step." }, async () =>
        moving ? (await commanded("pause"), commanded("step")) : commanded("step"),
      );
    },
    reset: () =>
      act({ ...IDLE, state: run ? "ready" : "idle", sentence: sentenceOf("ready") }, async () => {
        const answer = await commanded("reset");
        if (answer?.state === "gone") forget();
        return run ? answer : null;
      }),
    change,
    /**
     * The answer of an instrument on the nets as they are now, by rule; a message where there is none.
     * @param {string} key
     * @param {Object<string, number>} numbers its arguments
     * @param {number|null} [at] the checkpoint they are measured at
     */
    async measure(key, numbers, at = null) {
      const numbered = Object.entries({ ...numbers, ...(at !== null && { at }) });
      const query = new URLSearchParams(numbered.map(([name, value]) => [name, String(value)]));
      return run && withArrays(await requestJson(server(`runs/${run.id}/measured/${key}?${query}`)));
    },
    /** The status of the run at a checkpoint; a message where that is gone. @param {number} step */
    async look(step) {
      return run ? withArrays(await requestJson(server(`runs/${run.id}/at/${step}?${asked()}`))) : GONE;
    },
    /** Have the browser save a file of the run; a sentence where it cannot. @param {string} file its name */
    take: async (file) =>
      run ? downloadAnswer(server(`runs/${run.id}/files/${file}`), { key: run.key }, file) : GONE.message,
    /** Settings that were taken away, as a choice; a message where they cannot be read. @param {string} text */
    open: (text) => postJson(server("settings"), { text }),
    /** Have these instruments in every event from now on. @param {string[]} keys */
    show(keys) {
      if (keys.join() === questions.join()) return;
      questions = keys;
      if (!watched.isBusy && watched.view.id) watched.open();
    },
    /** Let the run go: other settings are chosen. */
    drop() {
      const stopped = async () => {
        await commanded("stop");
        forget();
      };
      act(IDLE, stopped, null);
    },
    destroy: watched.destroy,
  };

  function forget() {
    run = null;
    saveInSession("run", null);
  }
}
