// A visitor's own table: stored in the browser's tab and read by the server; only the last answer counts.

import { postJson } from "../../choice/server.js";
import { saveInSession } from "../../choice/session.js";
import { asRead } from "../state/own-table.js";

/** @import { OwnTable, Reading } from "../state/own-table.js" */
/** @typedef {{table: OwnTable, reading: Reading}} TableState a table, and the server's reading of it */

/**
 * Create the client of a visitor's own table.
 *
 * ``onTable`` sets another table and requests a reading; ``read`` only requests the reading.
 * @param {{server: (path: string) => string, state: () => TableState, become: (own: TableState) => void,
 *   onRead: () => void}} options ``onRead`` is called after the state has a new reading
 */
export function createOwnTable({ server, state, become, onRead }) {
  let last = 0;

  /** @param {OwnTable} table @param {Reading} reading */
  function setTable(table, reading) {
    saveInSession("own table", table);
    become({ table, reading });
  }

  /** @param {OwnTable} table */
  async function read(table) {
    const request = ++last;
    const reading = table.text.trim() ? await postJson(server("table"), { table }) : null;
    if (request !== last) return;
    setTable(asRead(table, reading), reading);
    onRead();
  }

  return {
    read,
    onTable(/** @type {OwnTable} */ table) {
      setTable(table, table.text === state().table.text ? state().reading : null);
      read(table);
    },
  };
}
