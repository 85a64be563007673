// The reading of a visitor's table by the server; the answer to the last one counts.

import { post } from "../../choice/server.js";

/** @import { OwnTable, Reading } from "../state/own-table.js" */

/**
 * A function that asks what is read of a table, and tells it ``onRead``.
 * @param {{server: (path: string) => string, onRead: (table: OwnTable, reading: Reading) => void}} options
 * @returns {(table: OwnTable) => Promise<void>}
 */
export function createReader({ server, onRead }) {
  let last = 0;
  return async (table) => {
    last += 1;
    const mine = last;
    const reading = table.text.trim() ? await post(server("table"), { table }) : null;
    if (mine === last) onRead(table, reading);
  };
}
