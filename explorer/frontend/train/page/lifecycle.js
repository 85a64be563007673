// Runs begin by a press, and anew by themselves where other settings are chosen.

import { hasSameLiveSettings, orderOf } from "../client/request.js";
import { toDisplayedState, unpackGhosts } from "../state/history.js";
import { loadFromSession } from "../../choice/session.js";
import { withBegun, withOtherSettings, withReset } from "../state/state.js";
import { ACTIVE, AT_REST, UNAVAILABLE } from "../state/status.js";

/** @import { Page } from "./controller.js" */

const REST_MS = 300; // of rest, before other settings begin a new run

/**
 * A press looks at the settings itself: they may be news to the run.
 * @param {Page} page
 */
export function createPresses({ now, state, become, run, isMine, rename }) {
  let timer = 0;
  const order = () => orderOf(now(), state().table);

  /** @param {"begin"|"beginWithStep"|"beginAtRest"} how */
  function begin(how) {
    become(withBegun(state()));
    run[how](order());
  }

  const resume = () => (isMine() ? run.resumeTraining() : begin("begin"));

  /** Other settings begin a run that goes on anew, and let go of one that does not. */
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
    /** @param {number} step of the present run that it goes on from */
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
    /** Go on with the run that this session began before the page was loaded, if it has the same settings. */
    recall() {
      if (isMine() && Number(run.lr) === Number(order().lr)) {
        become({ ...withBegun(state()), ghosts: unpackGhosts(loadFromSession("ghosts")) });
        run.watch();
      } else if (run.settingsKey) run.drop();
    },
    destroy: () => clearTimeout(timer),
  };
}
