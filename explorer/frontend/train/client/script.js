// Fetches a Python script for the current settings from the server. No training run is needed.

import { postJson } from "../../choice/server.js";
import { explainUntrained } from "../state/tasks.js";
import { makeRunRequest } from "./request.js";

/**
 * @param {{server: (path: string) => string, now: () => import("../../choice/choice.js").Choice,
 *   state: () => import("../state/state.js").State}} page
 */
export function createScripts({ server, now, state }) {
  const makeBody = () => {
    const { query, branch, table } = makeRunRequest(now(), state().table);
    return { query, branch, ...(table && { table }) };
  };
  return {
    scriptKey: () => JSON.stringify(makeBody()),
    /** @returns {Promise<{text?: string, message?: string}>} */
    async onScript() {
      const message = explainUntrained(now());
      return message ? { message } : postJson(server("script"), makeBody());
    },
  };
}
