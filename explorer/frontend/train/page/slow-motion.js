// The controller of slow motion, which shows one training step in detail once the run is paused.

import { getShownLayer, toPositionText, recordKey } from "../slow-motion/view-model.js";
import { ACTIVE, UNAVAILABLE } from "../state/status.js";
import { explainUntrained } from "../state/tasks.js";

const INSTRUMENT = "slow_motion"; // key of the instrument that records one step in detail
const FIRST_STAGE = "input";

/**
 * Create the controller of slow motion.
 * @param {import("./model.js").Page} page @param {() => void} first starts a run that is paused at step 0
 */
export function createSlowRun({ now, state, put, become, choose, run, isMine }, first) {
  /**
   * Set the stage, rule, layer and unit that slow motion shows; null closes it.
   * @param {import("../slow-motion/view-model.js").Position|null} position
   */
  function onSlow(position) {
    choose({ ...now(), slow: position ? toPositionText(position) : "" }, { target: "slow" });
  }

  return {
    /** Request the record of a step if the displayed step, layer or learning rate has changed. */
    async record() {
      const key = recordKey(state());
      if (!state().choice.slow && state().slow) put({ slow: null });
      if (key === null || run.isBusy || state().slow?.key === key) return;
      const before = state().slow?.answer ?? null;
      put({ slow: { key, answer: null, before } });
      const answer = await run.measure(INSTRUMENT, { layer: getShownLayer(state().choice.slow) });
      if (state().slow?.key === key) become({ slow: { key, answer, before: null } });
    },
    acts: {
      onSlow,
      /** Open slow motion at the next step. Pause an active run; without a run, start a paused one. */
      onSlowMotion() {
        const { state: name } = run.status;
        if (ACTIVE.includes(name) && isMine()) run.pause();
        else if (!explainUntrained(now()) && (!isMine() || UNAVAILABLE.includes(name))) first();
        choose({ ...now(), slow: FIRST_STAGE }, { target: "slow" });
      },
      onAgain: () => become({ slow: null }),
    },
  };
}
