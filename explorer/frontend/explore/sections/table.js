// The section Data: the values of the chart's curves as a table that can be sorted and saved.

import { element, setText } from "../../elements/dom.js";
import { listCsvColumns, makeCsv } from "../../measures/csv.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { createDownload } from "./download.js";
import { createSortableHead } from "./sortable.js";

/** @import { Sampled } from "../../measures/csv.js" */
/** @import { Displayed } from "../stage/stage.js" */

const ROW_PX = 28; // row height, as in the style sheet
const EXTRA_ROWS = 10; // rows drawn beyond each end of the visible part
const TORCH_TEXT = "Torch's values.";
const COMPUTED_TEXT = "Computed in the browser: this page has no torch values for these settings.";

/**
 * Create the section Data, with the values of the chart's curves.
 * @param {HTMLElement} host @param {{store: import("../../choice/store.js").Store}} options
 */
export function createTable(host, { store }) {
  const download = createDownload();
  const note = element("p");
  const head = createSortableHead(sort);
  const body = element("tbody");
  const table = element("table", {}, element("thead", {}, head.element), body);
  const frame = element("div", { class: "rows", tabindex: 0, role: "region", "aria-label": "Data" }, table);
  const line = element("div", { class: "fields flex-wrap" }, download.element, note);
  const content = element("div", { class: "table-section" }, line, frame);
  let current = /** @type {Displayed|null} */ (null);
  let drawnCurves = /** @type {Displayed|null} */ (null);
  let order = /** @type {number[]} */ ([]);
  host.append(content);
  frame.addEventListener("scroll", drawRows, { passive: true });

  function draw() {
    const choice = store.current;
    content.hidden = choice.section !== "data";
    if (content.hidden || !current || current === drawnCurves) return;
    drawnCurves = current;
    const { curves, confirmed } = current;
    const keys = Object.keys(curves.gradients);
    const learning = Boolean(choice.learns);
    setText(note, confirmed ? TORCH_TEXT : COMPUTED_TEXT);
    download.offer("Download CSV", "curve.csv", "text/csv", () => makeCsv(curves, keys, learning));
    const names = listCsvColumns(curves, keys[0], learning).map(([name]) => name);
    head.show(["rule", ...names]);
    table.setAttribute("aria-rowcount", String(1 + keys.length * curves.x.length));
    sort();
  }

  function sort() {
    if (!drawnCurves) return;
    const { curves } = drawnCurves;
    const keys = Object.keys(curves.gradients);
    const learning = Object.keys(curves.parts).length > 0;
    const columns = keys.map((key) => listCsvColumns(curves, key, learning));
    const count = curves.x.length;
    order = head.order(keys.length * count, (row, column) => {
      const ruleIndex = Math.floor(row / count);
      return column ? (columns[ruleIndex][column - 1][1]?.[row % count] ?? NaN) : keys[ruleIndex];
    });
    drawRows();
  }

  /** Draw the visible rows, with empty space in place of the others. */
  function drawRows() {
    if (!drawnCurves) return;
    const { curves } = drawnCurves;
    const keys = Object.keys(curves.gradients);
    const count = keys.length * curves.x.length;
    const { first, last } = getVisibleRows(count, frame);
    const visible = Array.from({ length: last - first }, (_, at) => createDataRow(first + at, keys, curves));
    const columns = head.element.childElementCount;
    body.replaceChildren(createSpacer(first, columns), ...visible, createSpacer(count - last, columns));
  }

  /**
   * @param {number} number index of the row from the top @param {string[]} keys keys of the rules
   * @param {Sampled} curves
   */
  function createDataRow(number, keys, curves) {
    const key = keys[Math.floor(order[number] / curves.x.length)];
    const at = order[number] % curves.x.length;
    const columns = listCsvColumns(curves, key, Object.keys(curves.parts).length > 0);
    const values = columns.map(([, column]) => column?.[at] ?? NaN);
    const cells = [key, ...values.map(formatCell)].map((text) => element("td", {}, text));
    return element("tr", { "aria-rowindex": number + 2 }, ...cells);
  }

  const stop = store.subscribe((_choice, { phase }) => phase === "settled" && draw());
  return {
    /** @param {Displayed} now the curves at rest */
    show(now) {
      current = now;
      draw();
    },
    destroy: stop,
  };
}

/**
 * Return the rows to draw: the index of the first, and one past that of the last.
 * @param {number} count number of all rows
 * @param {{scrollTop: number, clientHeight: number}} frame the element that scrolls, perhaps too far if the table had
 *   more rows before
 */
export function getVisibleRows(count, { scrollTop, clientHeight }) {
  const top = Math.min(scrollTop, count * ROW_PX - clientHeight);
  return {
    first: Math.max(0, Math.floor(top / ROW_PX) - EXTRA_ROWS),
    last: Math.min(count, Math.ceil((top + clientHeight) / ROW_PX) + EXTRA_ROWS),
  };
}

/** Format a number for a table cell. Returns "" for NaN. @param {number} value */
export function formatCell(value) {
  return Number.isNaN(value) ? "" : formatFourDigits(value);
}

/** @param {number} count @param {number} columns */
function createSpacer(count, columns) {
  const cell = element("td", { colspan: columns });
  cell.style.height = `${Math.max(count, 0) * ROW_PX}px`;
  return element("tr", { "aria-hidden": "true", class: "spacer" }, cell);
}
