// Settings that change during a run: the server records learning rates as branch points, and the choice follows.

import { mergeRecorded, isUnderway } from "../state/history.js";
import { withSetting } from "../state/tasks.js";

/** @import { Page } from "./controller.js" */

/** @param {Page} page */
export function createLiveSettings({ now, state, put, become, choose, run, isMine, rename }) {
  /** Display a learning rate, and send it once the slider has settled. @param {string} rate @param {string} phase */
  function turn(rate, phase) {
    become({ rate });
    if (phase === "settled") run.change();
  }

  return {
    /** Update the choice with the changes that the run has recorded. */
    catchUp() {
      const recorded = run.isBusy || !isMine() ? null : mergeRecorded(state());
      if (!recorded) return;
      put({ rate: null, trained: recorded });
      rename(recorded);
      choose(recorded, { target: "lr" });
    },
    onSetting(/** @type {string} */ name, /** @type {string} */ text, /** @type {*} */ phase) {
      if (name === "lr" && isMine() && isUnderway(state())) turn(text, phase);
      else choose(withSetting(now(), name, text), { phase, target: name });
    },
  };
}
