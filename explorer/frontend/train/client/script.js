// The current settings as a Python script, from the server. No run is needed.

import { postJson } from "../../choice/server.js";
import { explainUntrained } from "../state/tasks.js";
import { makeRunRequest } from "./request.js";

/**
 * Create the client that has the server write the current settings as a Python script.
 * @param {{server: (path: string) => string, now: () => import("../../choice/choice.js").Choice, state: () =>
 *   import("../state/state.js").State}} page ``now``: returns the settings
 */
export function createScripts({ server, now, state }) {
  const makeBody = () => {
    const { query, branch, table } = makeRunRequest(now(), state().table);
    return { query, branch, ...(table && { table }) };
  };
  return {
    scriptKey: () => JSON.stringify(makeBody()),
    /** Fetch the script, or a message on why there is none. @returns {Promise<{text?: string, message?: string}>} */
    async onScript() {
      const message = explainUntrained(now());
      return message ? { message } : postJson(server("script"), makeBody());
    },
  };
}
