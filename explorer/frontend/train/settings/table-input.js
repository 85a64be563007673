// The input for the user's own table of data, which stays in this browser tab.

import { element, createId, setAttribute, setText, setValue, writeValue } from "../../elements/dom.js";
import { createFileButton } from "../../elements/file-button.js";
import { getCatalogue } from "../../choice/entries.js";
import * as tables from "../state/own-table.js";
import { createPreview } from "./table-preview.js";

/** @import { OwnTable, Reading } from "../state/own-table.js" */
/**
 * The user's table on the page, with the server's analysis.
 * @typedef {{visible: boolean, own: OwnTable, reading: Reading}} Picture
 */

const TYPED = /^(insertText|insertLineBreak|delete)/; // types of input that more input will follow
const PAUSE_MS = 800; // pause after such an input before the table is read
const EXAMPLE = "height,width,kind\n1.2,0.4,a\n0.7,1.1,b\n…";
const formatCount = (/** @type {number} */ count) => count.toLocaleString("en-US");

/**
 * Create the input for the user's table.
 * @param {HTMLElement} host @param {{onTable: (table: OwnTable) => void}} on ``onTable``: called with each new table
 * @param {{name: string, table: string}[]} examples tables to use instead
 */
export function createTable(host, { onTable }, examples) {
  const { bytes } = getCatalogue().limits.table;
  const id = createId();
  let timer = /** @type {ReturnType<typeof setTimeout>|undefined} */ (undefined);
  const field = element("textarea", {
    id,
    rows: 4,
    spellcheck: "false",
    placeholder: EXAMPLE,
    onchange: () => acceptText(field.value),
    oninput({ inputType }) {
      clearTimeout(timer);
      timer = setTimeout(() => acceptText(field.value), TYPED.test(inputType) ? PAUSE_MS : 0);
    },
  });
  const file = createFileButton("Open a file", { accept: ".csv,.tsv,.txt,text/csv", onFile: openFile });
  const status = element("p", { class: "next text-small", role: "status" });
  const offered = examples.map(({ name, table }) =>
    element("button", { onclick: () => acceptText(table) }, `Example: ${name.toLowerCase()}`),
  );
  let current = tables.NO_TABLE;
  let read = /** @type {Reading} */ (null);
  const change = element(
    "button",
    { class: "change", "aria-expanded": "false", onclick: turn },
    "Change the table",
  );
  const preview = createPreview({
    onTarget: (name) => onTable(tables.withTarget(current, name)),
    onOut: (name, out) => onTable(tables.withOut(current, name, out)),
    onComplete: () => onTable(tables.dropGaps(current, read)),
  });
  host.append(
    element(
      "label",
      { for: id },
      element("b", {}, "Paste a table"),
      ` or drop a file here. ${describeLimits()}`,
    ),
    field,
    element("div", { class: "own-file flex-wrap" }, file, ...offered, status),
    change,
    preview.element,
  );
  acceptDrops(host, openFile);

  function turn() {
    setAttribute(change, "aria-expanded", String(host.classList.toggle("whole-table")));
  }

  /** Use a file as the table. If it is rejected, clear the previous table. @param {File} chosen */
  async function openFile(chosen) {
    const result =
      chosen.size > bytes
        ? { message: explainSize(chosen.size) }
        : tables.decodeFile(await chosen.arrayBuffer());
    if ("message" in result) return rejectText(result.message, "");
    writeValue(field, result.text);
    acceptText(result.text);
  }

  /** @param {string} text */
  function acceptText(text) {
    clearTimeout(timer);
    const size = new Blob([text]).size;
    if (size > bytes) return rejectText(explainSize(size), text);
    setText(status, "");
    if (text !== current.text) onTable(tables.makeTable(text));
  }

  /** @param {string} message @param {string} text the rejected text, which remains in the field */
  function rejectText(message, text) {
    writeValue(field, text);
    setText(status, message);
    onTable(tables.NO_TABLE);
  }

  /** @param {number} size the size in bytes */
  function explainSize(size) {
    return `The table has ${formatCount(size)} bytes: use one of at most ${formatCount(bytes)}.`;
  }

  return {
    /** @param {Picture} picture */
    show({ visible, own: next, reading }) {
      setAttribute(host, "hidden", !visible);
      const isOther = next.text !== current.text;
      current = next;
      read = reading;
      if (!visible) return;
      for (const button of offered) setAttribute(button, "hidden", next.text !== "");
      if (isOther && next.text) setText(status, "");
      if (next.text) setValue(field, next.text);
      host.classList.toggle(
        "was-read",
        reading !== null && reading.message === undefined && !reading.refused,
      );
      preview.show(tables.buildTablePreview(reading));
    },
  };
}

function describeLimits() {
  const { fewest, rows, columns, classes, categories, bytes } = getCatalogue().limits.table;
  return [
    `CSV of ${fewest} to ${formatCount(rows)} rows, 2 to ${columns} columns, at most ${formatCount(bytes)} bytes;`,
    "numbers may have decimal commas where semicolons or tabs split the columns.",
    `One column is learnt: up to ${classes} classes, or a number. The others hold numbers, or 2 to ${categories} categories, without gaps.`,
    "It stays in this tab and on the server while it trains; it is never part of a link.",
  ].join(" ");
}

/** @param {HTMLElement} host @param {(file: File) => void} onFile */
function acceptDrops(host, onFile) {
  const mark = (/** @type {boolean} */ is) => host.classList.toggle("dropping", is);
  host.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    mark(true);
  });
  host.addEventListener("dragleave", () => mark(false));
  host.addEventListener("drop", (event) => {
    mark(false);
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return; // dropped text is left to the text field
    event.preventDefault();
    onFile(file);
  });
}
