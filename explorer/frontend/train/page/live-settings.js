// Settings that can change during a run. The server records a new learning rate as a branch point.

import { mergeRecorded, isUnderway } from "../state/history.js";
import { withSetting } from "../state/tasks.js";

/** @import { Page } from "./model.js" */

/** Create the functions that change settings during a run. @param {Page} page */
export function createLiveSettings({ now, state, put, become, choose, run, isMine, rename }) {
  /** Display a learning rate; send it once the slider is released. @param {string} rate @param {string} phase */
  function setRate(rate, phase) {
    become({ rate });
    if (phase === "settled") run.change();
  }

  return {
    /** Add changes that the run has recorded to the page's settings. */
    catchUp() {
      const recorded = run.isBusy || !isMine() ? null : mergeRecorded(state());
      if (!recorded) return;
      put({ rate: null, trained: recorded });
      rename(recorded);
      choose(recorded, { target: "lr" });
    },
    onSetting(/** @type {string} */ name, /** @type {string} */ text, /** @type {*} */ phase) {
      if (name === "lr" && isMine() && isUnderway(state())) setRate(text, phase);
      else choose(withSetting(now(), name, text), { phase, target: name });
    },
  };
}
