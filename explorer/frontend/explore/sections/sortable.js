// A table head that sorts by the pressed column: ascending, descending, then in the original order.

import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";

/** The value by which a cell is sorted. @typedef {number|string} Value */

/** Create a table head that sorts by the pressed column. @param {() => void} onSort called when the order changes */
export function createSortableHead(onSort) {
  const row = element("tr", { "aria-rowindex": 1 });
  let names = /** @type {string[]} */ ([]);
  let order = { column: -1, down: false };

  /** @param {number} column */
  function sort(column) {
    if (order.column !== column) order = { column, down: false };
    else order = order.down ? { column: -1, down: false } : { column, down: true };
    draw();
    onSort();
  }

  function draw() {
    const heads = names.map((name, column) => {
      const sorted = order.column === column ? (order.down ? "descending" : "ascending") : "none";
      return h(
        "th",
        { scope: "col", "aria-sort": sorted },
        h("button", { class: "quiet", onclick: () => sort(column) }, name),
      );
    });
    render(row, heads);
  }

  return {
    element: row,
    /** @param {string[]} now */
    show(now) {
      if (names.join("\n") === now.join("\n")) return;
      names = now;
      order = { column: -1, down: false };
      draw();
    },
    /** @param {number} count number of rows @param {(row: number, column: number) => Value} valueOf */
    order: (count, valueOf) => orderRows(count, order, valueOf),
  };
}

/**
 * Return the indices of rows, sorted by a column. The sort is stable; NaN comes last.
 * @param {number} count number of rows
 * @param {{column: number, down: boolean}} order ``column``: −1 for the original order
 * @param {(row: number, column: number) => Value} valueOf returns a cell's value
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
