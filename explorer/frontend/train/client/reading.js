// The table of data that the user has pasted, kept in the browser tab and analysed by the server.

import { postJson } from "../../choice/server.js";
import { saveInSession } from "../../choice/session.js";
import { asRead } from "../state/own-table.js";

/** @import { OwnTable, Reading } from "../state/own-table.js" */
/** @typedef {{table: OwnTable, reading: Reading}} TableState the user's table, with the server's analysis of it */

/**
 * Create a client that has the server analyse the user's table. ``onTable`` stores a new table first; ``read`` only
 * analyses. Answers to outdated requests are ignored.
 * @param {{server: (path: string) => string, state: () => TableState, become: (own: TableState) => void, onRead: () =>
 *   void}} options ``become``: stores the table with its analysis; ``onRead``: called after each analysis
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
