// The head of a table that its columns sort: up, then down, then as at first.

import { element, setAttribute } from "../../elements/dom.js";

/** @typedef {number|string} Value */

/** @param {() => void} onSort */
export function createSortableHead(onSort) {
  const row = element("tr", { "aria-rowindex": 1 });
  let names = /** @type {string[]} */ ([]);
  let order = { column: -1, down: false };

  /** @param {number} column */
  function press(column) {
    if (order.column !== column) order = { column, down: false };
    else order = order.down ? { column: -1, down: false } : { column, down: true };
    mark();
    onSort();
  }

  function mark() {
    [...row.children].forEach((cell, column) =>
      setAttribute(
        cell,
        "aria-sort",
        order.column === column ? (order.down ? "descending" : "ascending") : "none",
      ),
    );
  }

  return {
    element: row,
    /** Name the columns; other names forget the order. @param {string[]} now */
    show(now) {
      if (names.join("\n") === now.join("\n")) return;
      names = now;
      order = { column: -1, down: false };
      row.replaceChildren(
        ...names.map((name, column) =>
          element("th", { scope: "col" }, element("button", { onclick: () => press(column) }, name)),
        ),
      );
      mark();
    },
    /**
     * The numbers of all rows in their order.
     * @param {number} count
     * @param {(row: number, column: number) => Value} valueOf
     */
    order: (count, valueOf) => orderRows(count, order, valueOf),
  };
}

/**
 * The numbers of rows sorted by a column, −1 for none: rows of equal values keep their order, NaN comes last.
 * @param {number} count
 * @param {{column: number, down: boolean}} order
 * @param {(row: number, column: number) => Value} valueOf
 */
export function orderRows(count, { column, down }, valueOf) {
  const rows = Array.from({ length: count }, (_, row) => row);
  if (column < 0) return rows;
  const values = rows.map((row) => valueOf(row, column));
  const sign = down ? -1 : 1;
  return rows.sort((one, other) => {
    const [a, b] = [values[one], values[other]];
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a === b ? 0 : a < b ? -sign : sign;
  });
}
