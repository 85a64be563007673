// Settings in mid-run: a learning rate is a branch point, and what is chosen follows what the run records.

import { caughtUp, isOnItsWay, ratedChoice } from "../state/history.js";
import { withSetting } from "../state/tasks.js";

/** @import { Page } from "./controller.js" */

/** @param {Page} page */
export function createTurning({ now, state, put, become, choose, run, isMine, rename }) {
  /** A learning rate is a branch point once it is at rest. @param {string} rate @param {string} phase */
  function turn(rate, phase) {
    put({ rate });
    if (phase === "settled") renamed(ratedChoice(now(), run.status.step, rate));
    become({});
    if (phase === "settled") run.change();
  }

  /** Another choice that is of the present run. @param {import("../../choice/choice.js").Choice} choice */
  function renamed(choice) {
    rename(choice);
    choose(choice, { thing: "lr" });
  }

  return {
    /** Bring the choice up to date with the changes that the run has recorded. */
    catchUp() {
      const recorded = run.isBusy || !isMine() ? null : caughtUp(state());
      if (!recorded) return;
      put({ rate: null, trained: recorded });
      renamed(recorded);
    },
    onSetting(/** @type {string} */ name, /** @type {string} */ text, /** @type {*} */ phase) {
      if (name === "lr" && isMine() && isOnItsWay(state())) turn(text, phase);
      else choose(withSetting(now(), name, text), { phase, thing: name });
    },
  };
}
