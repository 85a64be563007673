// Step 0 of the current settings before a run has started, requested from the server; later requests replace earlier ones.

import { postJson } from "../../choice/server.js";
import { decodeArrays } from "../state/series.js";
import { taskOf, explainUntrained } from "../state/tasks.js";
import { orderOf } from "./request.js";

/** @import { State } from "../state/state.js" */

const REST_MS = 120; // delay after the last change before step 0 of other settings is requested

/**
 * Create a requester of step 0 for states without a run; it requests the same settings only once.
 * @param {{server: (path: string) => string, onFirst: (first: NonNullable<State["first"]>) => void}} options
 */
export function createFirstStep({ server, onFirst }) {
  let last = "";
  let timer = 0;

  /** @param {State} state @param {string} settingsKey */
  async function ask({ choice, table }, settingsKey) {
    const { query, branch, table: ownTable } = orderOf(choice, table);
    const answer = await postJson(server("first"), { query, branch, ...(ownTable && { table: ownTable }) });
    if (last === settingsKey) onFirst({ settingsKey, answer: answer.snapshot ? decodeArrays(answer) : null });
  }

  /** Clear the answer if the settings cannot be trained, so that no other settings' answer is shown. */
  function reset() {
    clearTimeout(timer);
    if (last === "") return;
    last = "";
    onFirst({ settingsKey: "", answer: null });
  }

  return {
    /** @param {State} state */
    follow(state) {
      const { choice, reading } = state;
      const hasNoTable = taskOf(choice).kind === "own" && (!reading || reading.message !== undefined);
      if (state.view.status.snapshot) return;
      if (hasNoTable || explainUntrained(choice)) return reset();
      const { settingsKey } = orderOf(state.choice, state.table);
      if (last === settingsKey) return;
      clearTimeout(timer);
      const isFirst = last === "";
      last = settingsKey;
      timer = setTimeout(() => ask(state, settingsKey), isFirst ? 0 : REST_MS);
    },
    destroy() {
      clearTimeout(timer);
      last = "";
    },
  };
}
