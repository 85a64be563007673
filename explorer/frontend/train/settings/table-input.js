// A visitor's own table: pasted, dropped or opened, read by Python, and stored in this tab alone.

import { element, freshId, setAttribute, setText, setValue, writeValue } from "../../elements/dom.js";
import { createFileButton } from "../../elements/file-button.js";
import { getCatalogue } from "../../choice/entries.js";
import {
  decodeFile,
  makeTable,
  NO_TABLE,
  previewOf,
  withOut,
  dropGaps,
  withTarget,
} from "../state/own-table.js";
import { createPreview } from "./table-preview.js";

/** @import { OwnTable, Reading } from "../state/own-table.js" */
/**
 * The table of the page, and what was read of it.
 * @typedef {{visible: boolean, own: OwnTable, reading: Reading}} Picture
 */

const EXAMPLE = "height,width,kind\n1.2,0.4,a\n0.7,1.1,b\n…";
const counted = (/** @type {number} */ count) => count.toLocaleString("en-US");

/**
 * @param {HTMLElement} host
 * @param {{onTable: (table: OwnTable) => void}} on
 * @param {{name: string, table: string}[]} examples whose tables may be taken
 */
export function createTable(host, { onTable }, examples) {
  const { bytes } = getCatalogue().limits.table;
  const id = freshId();
  const field = element("textarea", {
    id,
    rows: 4,
    spellcheck: "false",
    placeholder: EXAMPLE,
    onchange: () => taken(field.value),
    oninput: ({ inputType }) => /^insertFrom(Paste|Drop)$/.test(inputType) && taken(field.value),
  });
  const file = createFileButton("Open a file", { accept: ".csv,.tsv,.txt,text/csv", onFile: opened });
  const said = element("p", { class: "next", role: "status" });
  const offered = examples.map(({ name, table }) =>
    element("button", { onclick: () => taken(table) }, `Example: ${name.toLowerCase()}`),
  );
  let own = NO_TABLE;
  let read = /** @type {Reading} */ (null);
  const change = element(
    "button",
    { class: "change", "aria-expanded": "false", onclick: turn },
    "Change the table",
  );
  const preview = createPreview({
    onTarget: (name) => onTable(withTarget(own, name)),
    onOut: (name, out) => onTable(withOut(own, name, out)),
    onComplete: () => onTable(dropGaps(own, read)),
  });
  host.append(
    element("label", { for: id }, element("b", {}, "Paste a table"), ` or drop a file here. ${limitsText()}`),
    field,
    element("div", { class: "own-file" }, file, ...offered, said),
    change,
    preview.element,
  );
  acceptDrops(host, opened);

  /** The field and the columns of a table that was read are shown anew, or put away. */
  function turn() {
    setAttribute(change, "aria-expanded", String(host.classList.toggle("whole-table")));
  }

  /** A file that is refused leaves no old table behind it. @param {File} chosen */
  async function opened(chosen) {
    const found =
      chosen.size > bytes ? { message: tooLarge(chosen.size) } : decodeFile(await chosen.arrayBuffer());
    if ("message" in found) return refused(found.message, "");
    writeValue(field, found.text);
    taken(found.text);
  }

  /** @param {string} text */
  function taken(text) {
    const size = new Blob([text]).size;
    if (size > bytes) return refused(tooLarge(size), text);
    setText(said, "");
    if (text !== own.text) onTable(makeTable(text));
  }

  /** @param {string} message @param {string} text what stays in the field */
  function refused(message, text) {
    writeValue(field, text);
    setText(said, message);
    onTable(NO_TABLE);
  }

  /** @param {number} size in bytes */
  function tooLarge(size) {
    return `These are ${counted(size)} bytes: at most ${counted(bytes)} can be taken.`;
  }

  return {
    /** @param {Picture} picture */
    show({ visible, own: next, reading }) {
      setAttribute(host, "hidden", !visible);
      const isOther = next.text !== own.text;
      own = next;
      read = reading;
      if (!visible) return;
      for (const button of offered) setAttribute(button, "hidden", next.text !== "");
      if (isOther && next.text) setText(said, "");
      if (next.text) setValue(field, next.text);
      host.classList.toggle(
        "was-read",
        reading !== null && reading.message === undefined && !reading.refused,
      );
      preview.show(previewOf(reading));
    },
  };
}

/** The limits of a table, before one is there. */
function limitsText() {
  const { fewest, rows, columns, classes, bytes } = getCatalogue().limits.table;
  return [
    `CSV of ${fewest} to ${counted(rows)} rows, 2 to ${columns} columns, at most ${counted(bytes)} bytes;`,
    "numbers may have decimal commas where semicolons or tabs split the columns.",
    `One column is learnt: up to ${classes} classes, or a number. The others are numbers without gaps.`,
    "It stays in this tab and on the server while it trains; it is never part of a link.",
  ].join(" ");
}

/**
 * Files may be dropped on an element.
 * @param {HTMLElement} host
 * @param {(file: File) => void} onFile
 */
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
    if (!file) return; // a text, which the field takes
    event.preventDefault();
    onFile(file);
  });
}
