// The table that the user has pasted: kept in the browser tab's session and parsed by the server.

import { postJson } from "../../choice/server.js";
import { saveInSession } from "../../choice/session.js";
import { asRead } from "../state/own-table.js";

/** @import { OwnTable, Reading } from "../state/own-table.js" */
/** @typedef {{table: OwnTable, reading: Reading}} TableState the user's table, and the server's description of it */

/**
 * Create a client that asks the server to parse the table of training data that the user has pasted. ``onTable``
 * replaces the table and has it parsed; ``read`` only has it parsed. If several requests overlap, only the last answer
 * is used.
 * @param {{server: (path: string) => string, state: () => TableState, become: (own: TableState) => void,
 *   onRead: () => void}} options ``onRead`` is called after a new answer has been stored in the state
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
