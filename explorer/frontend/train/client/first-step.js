// Requests for step 0 of the nets before a run has started. A newer request replaces an older one.

import { postJson } from "../../choice/server.js";
import { decodeArrays } from "../state/series.js";
import { getSelectedTask, explainUntrained } from "../state/tasks.js";
import { makeRunRequest } from "./request.js";

/** @import { State } from "../state/state.js" */

const REST_MS = 120; // pause after a change before the request

/**
 * Create a client that asks the server for the nets at step 0 as long as there is no run. It sends one request for
 * equal settings.
 * @param {{server: (path: string) => string, onFirst: (first: NonNullable<State["first"]>) => void}} options
 *   ``onFirst``: called with the answer, which is null if the server has none
 */
export function createFirstStep({ server, onFirst }) {
  let last = "";
  let timer = 0;

  /** @param {State} state @param {string} settingsKey */
  async function ask({ choice, table }, settingsKey) {
    const { query, branch, table: ownTable } = makeRunRequest(choice, table);
    const answer = await postJson(server("first"), { query, branch, ...(ownTable && { table: ownTable }) });
    if (last === settingsKey) onFirst({ settingsKey, answer: answer.snapshot ? decodeArrays(answer) : null });
  }

  /** Discard the last answer, because nets with the current settings cannot be trained. */
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
      const isRead = reading && reading.message === undefined && !reading.refused;
      const hasNoTable = getSelectedTask(choice).kind === "own" && !isRead;
      if (state.view.status.snapshot) return;
      if (hasNoTable || explainUntrained(choice)) return reset();
      const { settingsKey } = makeRunRequest(state.choice, state.table);
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
