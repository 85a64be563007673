// The controller of a run's history: display of earlier steps, branches and exports.

import { parseMessage } from "../../choice/message.js";
import { branchAt, withPoints } from "../state/branches.js";
import { replaceStep, findDisplayedStep, getPoints, getRecordedChoice } from "../state/history.js";
import { enterTraining } from "../state/tasks.js";

/** @import { State } from "../state/state.js" */

/**
 * Create the controller of a run's history.
 * @param {{state: () => State, become: (change: Partial<State>) => void, run: ReturnType<typeof
 *   import("../client/run.js").createRun>, choose: (choice: State["choice"]) => void, goOn: (step: number) => void,
 *   table: (table: import("../state/own-table.js").OwnTable) => void}} page ``become``: changes the state; ``choose``:
 *   replaces the settings; ``goOn``: starts a run with these settings that continues from a step of the present run;
 *   ``table``: replaces the user's table
 */
export function createHistory({ state, become, run, choose, goOn, table }) {
  let looking = false;

  /**
   * Fetch the status at the displayed step, one request at a time. If the user moves on during a request, only the
   * latest step is fetched next.
   */
  async function look() {
    if (looking) return;
    looking = true;
    let step = -1;
    while (state().at !== null && step !== state().at) {
      step = /** @type {number} */ (state().at);
      const { id } = state().view;
      const displayed = await run.look(step);
      if (state().view.id !== id || state().at === null) break;
      if (displayed.message) become({ at: null, displayed: null, remark: displayed.message });
      else if (displayed.step === step || state().at !== step) become({ displayed });
      else {
        step = displayed.step;
        become(replaceStep(state(), displayed));
      }
    }
    looking = false;
  }

  /** @param {State["choice"]} choice */
  function continueFrom(choice) {
    const { at, view } = state();
    const step = at ?? view.status.step;
    choose(choice);
    goOn(step);
  }

  return {
    look,
    /** @param {number} wanted */
    onScrub(wanted) {
      const at = findDisplayedStep(state(), wanted);
      if (at === state().at) return become({});
      become({ at, remark: "", ...(at === null && { displayed: null }) });
      look();
    },
    onGoOn: () => continueFrom(getRecordedChoice(state())),
    /**
     * Branch the run at the displayed step.
     * @param {string} name the changed setting @param {string} value its new value
     */
    onBranch(name, value) {
      const step = state().at ?? state().view.status.step;
      const choice = getRecordedChoice(state());
      continueFrom(withPoints(choice, branchAt(getPoints(choice), { step, name, value })));
    },
    /** @param {number} index index of the branch point to remove from the settings */
    onPoint(index) {
      const { choice } = state();
      const left = getPoints(choice).filter((_, other) => other !== index);
      choose(withPoints(choice, left));
    },
    onForget: () => become({ past: null }),
    onTake: (/** @type {string} */ file) => run.take(file),
    /** @param {string} text exported settings, as JSON */
    async onOpen(text) {
      const answer = await run.open(text);
      if (answer.message) return answer.message;
      if (answer.table) table(answer.table);
      choose({
        ...enterTraining(parseMessage(answer.choice), "link"),
        section: state().choice.section,
        tools: state().choice.tools,
      });
      return "Opened: press Start.";
    },
  };
}
