// The section Data: the curves of the chart as a table, to read, to sort and to save.

import { element, setText } from "../../elements/dom.js";
import { columnsOf, csvText } from "../../measures/csv.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { createDownload } from "./download.js";
import { createSortableHead } from "./sortable.js";

/** @import { Sampled } from "../../measures/csv.js" */
/** @import { Displayed } from "../stage/stage.js" */

const ROW_PX = 28; // as the style sheet has it
const BEYOND = 10; // rows that are drawn above and below the visible ones
const TORCHS = "Torch's values.";
const COMPUTED = "Computed in the browser: this page has no torch values for these settings.";

/** @param {HTMLElement} host @param {{store: import("../../choice/store.js").Store}} options */
export function createTable(host, { store }) {
  const download = createDownload();
  const note = element("p");
  const head = createSortableHead(sort);
  const body = element("tbody");
  const table = element("table", {}, element("thead", {}, head.element), body);
  const frame = element("div", { class: "rows", tabindex: 0, role: "region", "aria-label": "Data" }, table);
  const line = element("div", { class: "fields" }, download.element, note);
  const whole = element("div", { class: "table-section" }, line, frame);
  let current = /** @type {Displayed|null} */ (null);
  let drawn = /** @type {Displayed|null} */ (null);
  let order = /** @type {number[]} */ ([]);
  host.append(whole);
  frame.addEventListener("scroll", rows, { passive: true });

  function draw() {
    const choice = store.current;
    whole.hidden = choice.section !== "data";
    if (whole.hidden || !current || current === drawn) return;
    drawn = current;
    const { curves, confirmed } = current;
    const keys = Object.keys(curves.gradients);
    const learning = Boolean(choice.learns);
    setText(note, confirmed ? TORCHS : COMPUTED);
    download.offer("Download CSV", "curve.csv", "text/csv", () => csvText(curves, keys, learning));
    const names = columnsOf(curves, keys[0], learning).map(([name]) => name);
    head.show(["rule", ...names]);
    table.setAttribute("aria-rowcount", String(1 + keys.length * curves.x.length));
    sort();
  }

  function sort() {
    if (!drawn) return;
    const { curves } = drawn;
    const keys = Object.keys(curves.gradients);
    const learning = Object.keys(curves.parts).length > 0;
    const columns = keys.map((key) => columnsOf(curves, key, learning));
    const count = curves.x.length;
    order = head.order(keys.length * count, (row, column) => {
      const of = Math.floor(row / count);
      return column ? (columns[of][column - 1][1]?.[row % count] ?? NaN) : keys[of];
    });
    rows();
  }

  /** The visible rows, with space for all others. */
  function rows() {
    if (!drawn) return;
    const { curves } = drawn;
    const keys = Object.keys(curves.gradients);
    const count = keys.length * curves.x.length;
    const { first, last } = rowsSeen(count, frame);
    const visible = Array.from({ length: last - first }, (_, at) => row(first + at, keys, curves));
    const columns = head.element.childElementCount;
    body.replaceChildren(spacer(first, columns), ...visible, spacer(count - last, columns));
  }

  /** @param {number} number of the row from above @param {string[]} keys @param {Sampled} curves */
  function row(number, keys, curves) {
    const key = keys[Math.floor(order[number] / curves.x.length)];
    const at = order[number] % curves.x.length;
    const columns = columnsOf(curves, key, Object.keys(curves.parts).length > 0);
    const values = columns.map(([, column]) => column?.[at] ?? NaN);
    const cells = [key, ...values.map(cellText)].map((text) => element("td", {}, text));
    return element("tr", { "aria-rowindex": number + 2 }, ...cells);
  }

  const stop = store.subscribe((_choice, { phase }) => phase === "settled" && draw());
  return {
    /** @param {Displayed} now the curves of the chart at rest */
    show(now) {
      current = now;
      draw();
    },
    destroy: stop,
  };
}

/**
 * The rows to draw of so many, from the first to the one before the last.
 * @param {number} count
 * @param {{scrollTop: number, clientHeight: number}} frame it stands further down where there were more rows
 */
export function rowsSeen(count, { scrollTop, clientHeight }) {
  const top = Math.min(scrollTop, count * ROW_PX - clientHeight);
  return {
    first: Math.max(0, Math.floor(top / ROW_PX) - BEYOND),
    last: Math.min(count, Math.ceil((top + clientHeight) / ROW_PX) + BEYOND),
  };
}

/** A number of a table, or nothing where there is none. @param {number} value */
export function cellText(value) {
  return Number.isNaN(value) ? "" : formatFourDigits(value);
}

/** Room for rows that are not drawn. @param {number} count @param {number} columns */
function spacer(count, columns) {
  const cell = element("td", { colspan: columns });
  cell.style.height = `${Math.max(count, 0) * ROW_PX}px`;
  return element("tr", { "aria-hidden": "true", class: "spacer" }, cell);
}
