// Starting, pausing and restarting of training runs, by buttons or after a change of settings.

import { hasSameLiveSettings, makeRunRequest } from "../client/request.js";
import { toDisplayedState } from "../state/history.js";
import { SILENT_TEXT } from "../../choice/server.js";
import { loadFromSession, requestTraining, takeTrainingRequest } from "../../choice/session.js";
import { withBegun, withOtherSettings, withReset } from "../state/state.js";
import { explainUntrained } from "../state/tasks.js";
import { asRead, makeTable } from "../state/own-table.js";
import { ACTIVE, AT_REST, UNAVAILABLE } from "../state/status.js";

/** @import { Page } from "./model.js" */

const REST_MS = 300; // pause after a change before the run is restarted

/**
 * Create the functions that start, pause and restart runs. Before each command they compare the page's settings with
 * those of the run.
 * @param {Page} page
 */
export function createLifecycle({ now, state, become, run, isMine, rename }) {
  let timer = 0;
  const order = () => makeRunRequest(now(), state().table);

  /** @param {"begin"|"beginWithStep"|"beginAtRest"} how */
  function begin(how) {
    clearTimeout(timer); // or a refusal of this run would be removed
    become(withBegun(state()));
    send(how);
  }

  /** @param {"begin"|"beginWithStep"|"beginAtRest"} how */
  function send(how) {
    if (how === "begin") requestTraining(); // a reload before the answer starts it again
    void run[how](order()).then((answer) => answer?.message === SILENT_TEXT || takeTrainingRequest());
  }

  const resume = () => (isMine() ? run.resumeTraining() : begin("begin"));

  /**
   * Return to a run that has finished with these settings. Without one, restart an active run if its settings have
   * changed; drop an inactive one, or the message on why none began.
   */
  function reconcile() {
    const takeUp = run.findFinished(order());
    if (takeUp) become(withBegun(state()));
    if (takeUp) return takeUp();
    if (!run.settingsKey) return run.clearNotice();
    if (isMine()) return undefined;
    const { table, reading } = state();
    const unread = makeTable(table.text);
    const isUntouched = JSON.stringify(asRead(unread, reading)) === JSON.stringify(table);
    if (isUntouched && run.settingsKey === makeRunRequest(now(), unread).settingsKey) {
      rename(now()); // it began before the table was read, with the columns that the server suggests
      return become(withBegun(state()));
    }
    const goesOn = ACTIVE.includes(run.status.state);
    become(withOtherSettings(state()));
    return goesOn ? send("begin") : run.drop();
  }

  return {
    buttons: {
      onStart: () => (isMine() && AT_REST.includes(run.status.state) ? run.resumeTraining() : begin("begin")),
      onPause: run.pause,
      onResume: resume,
      onStep: () =>
        isMine() && !UNAVAILABLE.includes(run.status.state) ? run.step() : begin("beginWithStep"),
      onReset() {
        become(withReset(state()));
        run.reset();
      },
      onFirst: () => begin("beginAtRest"),
    },
    /** Start a run that continues from a step of the present one. @param {number} step */
    goOn(step) {
      const { status } = toDisplayedState(state()).view;
      clearTimeout(timer);
      become(withBegun(state()));
      run.goOn(order(), step, status);
    },
    /** @param {import("../../choice/choice.js").Choice} choice @param {{phase: string}} change */
    follow(choice, { phase }) {
      const isSame = hasSameLiveSettings(choice, state().choice);
      if (!isSame && run.settingsKey && !UNAVAILABLE.includes(run.status.state)) run.change();
      if (isMine()) rename(choice); // the learning rate may have changed before the run's first step
      become({ choice });
      clearTimeout(timer);
      if (phase === "settled") timer = setTimeout(reconcile, REST_MS);
    },
    reconcile,
    /**
     * Follow the run from before a reload of the page if it has the current settings. Otherwise start one if Explore
     * has requested it.
     */
    recall() {
      const isStart = takeTrainingRequest() && !explainUntrained(now());
      if (isMine() && Number(run.lr) === Number(order().lr)) {
        become({ ...withBegun(state()), past: loadFromSession("run before") });
        run.watch();
        return;
      }
      if (run.settingsKey) run.drop();
      if (isStart) begin("begin");
    },
    destroy: () => clearTimeout(timer),
  };
}
