// Slow motion in step with the run: its records are requested, and it opens at a step that stands still.

import { layerOf, positionText, recordKey } from "../slow-motion/view-model.js";
import { ACTIVE, UNAVAILABLE } from "../state/status.js";
import { explainUntrained } from "../state/tasks.js";

const SLOW = "slow_motion"; // the key of the instrument
const FIRST_STAGE = "input";

/**
 * @param {import("./controller.js").Page} page
 * @param {() => void} first begins a run at rest
 */
export function createSlowRun({ now, state, put, become, choose, run, isMine }, first) {
  /** @param {import("../slow-motion/view-model.js").Position|null} position */
  function onSlow(position) {
    choose({ ...now(), slow: position ? positionText(position) : "" }, { target: "slow" });
  }

  return {
    /** Have what slow motion shows recorded, once for each step, layer and rate. */
    async record() {
      const key = recordKey(state());
      if (!state().choice.slow && state().slow) put({ slow: null });
      if (key === null || run.isBusy || state().slow?.key === key) return;
      const before = state().slow?.answer ?? null;
      put({ slow: { key, answer: null, before } });
      const answer = await run.measure(SLOW, { layer: layerOf(state().choice.slow) });
      if (state().slow?.key === key) become({ slow: { key, answer, before: null } });
    },
    acts: {
      onSlow,
      /** Look at the next step: of a run that goes on once it is paused, and without one at its first. */
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
