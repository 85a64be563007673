// A visitor's own table on a page: kept in the tab, and read by the server; the answer to the last one counts.

import { postJson } from "../../choice/server.js";
import { saveInSession } from "../../choice/session.js";
import { asRead } from "../state/own-table.js";

/** @import { OwnTable, Reading } from "../state/own-table.js" */
/** @typedef {{table: OwnTable, reading: Reading}} Own a table, and what was read of it */

/**
 * ``onTable`` takes a table that is to be read before it is learnt; ``read`` asks what is read of one.
 * @param {{server: (path: string) => string, state: () => Own, become: (own: Own) => void,
 *   onRead: () => void}} options ``onRead``: after the state has what was read
 */
export function createOwnTable({ server, state, become, onRead }) {
  let last = 0;

  /** @param {OwnTable} table @param {Reading} reading */
  function take(table, reading) {
    saveInSession("own table", table);
    become({ table, reading });
  }

  /** @param {OwnTable} table */
  async function read(table) {
    const mine = ++last;
    const reading = table.text.trim() ? await postJson(server("table"), { table }) : null;
    if (mine !== last) return;
    take(asRead(table, reading), reading);
    onRead();
  }

  return {
    read,
    onTable(/** @type {OwnTable} */ table) {
      take(table, table.text === state().table.text ? state().reading : null);
      read(table);
    },
  };
}
