// Settings in mid-run: the server makes branch points of learning rates, and the choice follows what it records.

import { mergeRecorded, isUnderway } from "../state/history.js";
import { withSetting } from "../state/tasks.js";

/** @import { Page } from "./controller.js" */

/** @param {Page} page */
export function createTurning({ now, state, put, become, choose, run, isMine, rename }) {
  /** Display a learning rate; the server is told of it once it is at rest. @param {string} rate @param {string} phase */
  function turn(rate, phase) {
    become({ rate });
    if (phase === "settled") run.change();
  }

  return {
    /** Bring the choice up to date with the changes that the run has recorded. */
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
