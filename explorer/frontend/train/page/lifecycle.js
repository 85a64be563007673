// Starting, pausing and restarting of runs, by buttons and after a change of settings.

import { hasSameLiveSettings, orderOf } from "../client/request.js";
import { toDisplayedState, unpackGhosts } from "../state/history.js";
import { loadFromSession } from "../../choice/session.js";
import { withBegun, withOtherSettings, withReset } from "../state/state.js";
import { ACTIVE, AT_REST, UNAVAILABLE } from "../state/status.js";

/** @import { Page } from "./controller.js" */

const REST_MS = 300; // delay after the last change before other settings start a new run

/**
 * Create the actions of the buttons. They compare the settings themselves, since the run may not have them yet.
 * @param {Page} page
 */
export function createLifecycle({ now, state, become, run, isMine, rename }) {
  let timer = 0;
  const order = () => orderOf(now(), state().table);

  /** @param {"begin"|"beginWithStep"|"beginAtRest"} how */
  function begin(how) {
    become(withBegun(state()));
    run[how](order());
  }

  const resume = () => (isMine() ? run.resumeTraining() : begin("begin"));

  /** Restart an active run if other settings are chosen; drop an inactive one. */
  function reconcile() {
    if (!run.settingsKey || isMine()) return;
    const goesOn = ACTIVE.includes(run.status.state);
    become(withOtherSettings(state()));
    if (goesOn) run.begin(order());
    else run.drop();
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
    /** @param {number} step of the present run to continue from */
    goOn(step) {
      const { status } = toDisplayedState(state()).view;
      become(withBegun(state()));
      run.goOn(order(), step, status);
    },
    /** @param {import("../../choice/choice.js").Choice} choice @param {{phase: string}} change */
    follow(choice, { phase }) {
      const isSame = hasSameLiveSettings(choice, state().choice);
      if (!isSame && run.settingsKey && !UNAVAILABLE.includes(run.status.state)) run.change();
      if (isMine()) rename(choice); // its lr may have changed before the first step
      become({ choice });
      clearTimeout(timer);
      if (phase === "settled") timer = setTimeout(reconcile, REST_MS);
    },
    reconcile,
    /** Continue the run that this session started before the page was reloaded, if it has the same settings. */
    recall() {
      if (isMine() && Number(run.lr) === Number(order().lr)) {
        become({ ...withBegun(state()), ghosts: unpackGhosts(loadFromSession("ghosts")) });
        run.watch();
      } else if (run.settingsKey) run.drop();
    },
    destroy: () => clearTimeout(timer),
  };
}
