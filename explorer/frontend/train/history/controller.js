// The time machine of the page: looking back, going on from there, branching, and what is taken away.

import { parseMessage } from "../../choice/message.js";
import { withPoints } from "../state/branches.js";
import { branchedChoice, instead, lookedAt, pointsIn, recordedChoice, withPast } from "../state/history.js";
import { entered } from "../state/tasks.js";

/** @import { State } from "../state/state.js" */

/**
 * ``become`` changes the state; ``choose`` has another choice, and ``goOn`` begins a run of it that goes on from
 * a step of the present one.
 * @param {{state: () => State, become: (change: Partial<State>) => void,
 *   run: ReturnType<typeof import("../client/run.js").createRun>, choose: (choice: State["choice"]) => void,
 *   goOn: (step: number) => void, table: (table: import("../state/own-table.js").OwnTable) => void}} page
 */
export function createMachine({ state, become, run, choose, goOn, table }) {
  let looking = false;

  /** Ask for the step that is looked at, once at a time; the last one requested is displayed. */
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
        become(instead(state(), displayed));
      }
    }
    looking = false;
  }

  /** @param {State["choice"]} choice @param {string} name of what the present run becomes */
  function from(choice, name) {
    const { at, view } = state();
    const step = at ?? view.status.step;
    become({ ghosts: withPast(state(), name) });
    choose(choice);
    goOn(step);
  }

  return {
    look,
    /** @param {number} wanted */
    onScrub(wanted) {
      const at = lookedAt(state(), wanted);
      if (at === state().at) return become({});
      become({ at, remark: "", ...(at === null && { displayed: null }) });
      look();
    },
    onGoOn() {
      const { status } = state().view;
      from(recordedChoice(state()), `as it went on to step ${status.step}`);
    },
    /** @param {string} name @param {string} value */
    onBranch(name, value) {
      const step = state().at ?? state().view.status.step;
      const choice = recordedChoice(state());
      from(branchedChoice(choice, { step, name, value }), `before the branch at ${step}`);
    },
    /** @param {number} index of a point of the choice that is to go */
    onPoint(index) {
      const { choice } = state();
      const left = pointsIn(choice).filter((_, other) => other !== index);
      choose(withPoints(choice, left));
    },
    /** @param {number} number of the run whose lines are to go */
    onGhost: (number) => become({ ghosts: state().ghosts.filter((ghost) => ghost.number !== number) }),
    onTake: (/** @type {string} */ file) => run.take(file),
    /** @param {string} text of settings */
    async onOpen(text) {
      const answer = await run.open(text);
      if (answer.message) return answer.message;
      if (answer.table) table(answer.table);
      choose({
        ...entered(parseMessage(answer.choice), "link"),
        section: state().choice.section,
        tools: state().choice.tools,
      });
      return "Opened: press Start.";
    },
  };
}
