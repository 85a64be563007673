// Step 0 of a run that nobody has started: asked of the server for the settings on display; the last answer counts.

import { postJson } from "../../choice/server.js";
import { withArrays } from "../state/series.js";
import { taskOf, untrained } from "../state/tasks.js";
import { orderOf } from "./request.js";

/** @import { State } from "../state/state.js" */

const REST_MS = 120; // of rest, before other settings are asked for

/**
 * A function that asks for the first step of a state that has no run, once for its settings.
 * @param {{server: (path: string) => string, onFirst: (first: NonNullable<State["first"]>) => void}} options
 */
export function createFirst({ server, onFirst }) {
  let last = "";
  let timer = 0;

  /** @param {State} state @param {string} settingsKey */
  async function ask({ choice, table }, settingsKey) {
    const { query, branch, table: own } = orderOf(choice, table);
    const answer = await postJson(server("first"), { query, branch, ...(own && { table: own }) });
    if (last === settingsKey) onFirst({ settingsKey, answer: answer.snapshot ? withArrays(answer) : null });
  }

  /** Nothing is drawn of other settings where there is nothing to ask for. */
  function forget() {
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
      if (hasNoTable || untrained(choice)) return forget();
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
