// The input for the user's own table of training data, which is stored only in this browser tab.

import { element, createId, setAttribute, setText, setValue, writeValue } from "../../elements/dom.js";
import { createFileButton } from "../../elements/file-button.js";
import { getCatalogue } from "../../choice/entries.js";
import {
  decodeFile,
  makeTable,
  NO_TABLE,
  buildTablePreview,
  withOut,
  dropGaps,
  withTarget,
} from "../state/own-table.js";
import { createPreview } from "./table-preview.js";

/** @import { OwnTable, Reading } from "../state/own-table.js" */
/**
 * The table of training data on the page, and how the server has read it.
 * @typedef {{visible: boolean, own: OwnTable, reading: Reading}} Picture
 */

const EXAMPLE = "height,width,kind\n1.2,0.4,a\n0.7,1.1,b\n…";
const formatCount = (/** @type {number} */ count) => count.toLocaleString("en-US");

/**
 * Create the input for the user's own table of training data.
 * @param {HTMLElement} host
 * @param {{onTable: (table: OwnTable) => void}} on
 * @param {{name: string, table: string}[]} examples whose tables can be used
 */
export function createTable(host, { onTable }, examples) {
  const { bytes } = getCatalogue().limits.table;
  const id = createId();
  const field = element("textarea", {
    id,
    rows: 4,
    spellcheck: "false",
    placeholder: EXAMPLE,
    onchange: () => acceptText(field.value),
    oninput: ({ inputType }) => /^insertFrom(Paste|Drop)$/.test(inputType) && acceptText(field.value),
  });
  const file = createFileButton("Open a file", { accept: ".csv,.tsv,.txt,text/csv", onFile: openFile });
  const status = element("p", { class: "next", role: "status" });
  const offered = examples.map(({ name, table }) =>
    element("button", { onclick: () => acceptText(table) }, `Example: ${name.toLowerCase()}`),
  );
  let current = NO_TABLE;
  let read = /** @type {Reading} */ (null);
  const change = element(
    "button",
    { class: "change", "aria-expanded": "false", onclick: turn },
    "Change the table",
  );
  const preview = createPreview({
    onTarget: (name) => onTable(withTarget(current, name)),
    onOut: (name, out) => onTable(withOut(current, name, out)),
    onComplete: () => onTable(dropGaps(current, read)),
  });
  host.append(
    element(
      "label",
      { for: id },
      element("b", {}, "Paste a table"),
      ` or drop a file here. ${describeLimits()}`,
    ),
    field,
    element("div", { class: "own-file" }, file, ...offered, status),
    change,
    preview.element,
  );
  acceptDrops(host, openFile);

  /** Show or hide the text and columns of the user's table. */
  function turn() {
    setAttribute(change, "aria-expanded", String(host.classList.toggle("whole-table")));
  }

  /** Open a table file. If the file is rejected, the previous table is cleared. @param {File} chosen */
  async function openFile(chosen) {
    const result =
      chosen.size > bytes ? { message: explainSize(chosen.size) } : decodeFile(await chosen.arrayBuffer());
    if ("message" in result) return rejectText(result.message, "");
    writeValue(field, result.text);
    acceptText(result.text);
  }

  /** @param {string} text */
  function acceptText(text) {
    const size = new Blob([text]).size;
    if (size > bytes) return rejectText(explainSize(size), text);
    setText(status, "");
    if (text !== current.text) onTable(makeTable(text));
  }

  /** @param {string} message @param {string} text to leave in the field */
  function rejectText(message, text) {
    writeValue(field, text);
    setText(status, message);
    onTable(NO_TABLE);
  }

  /** @param {number} size in bytes */
  function explainSize(size) {
    return `These are ${formatCount(size)} bytes: at most ${formatCount(bytes)} can be taken.`;
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
      preview.show(buildTablePreview(reading));
    },
  };
}

/** Describe how large a table may be. */
function describeLimits() {
  const { fewest, rows, columns, classes, bytes } = getCatalogue().limits.table;
  return [
    `CSV of ${fewest} to ${formatCount(rows)} rows, 2 to ${columns} columns, at most ${formatCount(bytes)} bytes;`,
    "numbers may have decimal commas where semicolons or tabs split the columns.",
    `One column is learnt: up to ${classes} classes, or a number. The others are numbers without gaps.`,
    "It stays in this tab and on the server while it trains; it is never part of a link.",
  ].join(" ");
}

/** Accept files that are dropped on an element. @param {HTMLElement} host @param {(file: File) => void} onFile */
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
    if (!file) return; // the text field itself handles dropped text
    event.preventDefault();
    onFile(file);
  });
}
