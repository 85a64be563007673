// The script of what is chosen, which the server writes: no run is needed for it.

import { postJson } from "../../choice/server.js";
import { untrained } from "../state/tasks.js";
import { orderOf } from "./request.js";

/**
 * @param {{server: (path: string) => string, now: () => import("../../choice/choice.js").Choice,
 *   state: () => import("../state/state.js").State}} page
 */
export function createScripts({ server, now, state }) {
  const body = () => {
    const { query, branch, table } = orderOf(now(), state().table);
    return { query, branch, ...(table && { table }) };
  };
  return {
    scriptKey: () => JSON.stringify(body()),
    /** @returns {Promise<{text?: string, message?: string}>} */
    async onScript() {
      const message = untrained(now());
      return message ? { message } : postJson(server("script"), body());
    },
  };
}
