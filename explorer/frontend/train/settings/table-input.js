// A pasted table: checked by Python, and stored in this tab alone.

import { element, freshId, setAttribute, setText, setValue } from "../../elements/dom.js";
import { catalogue } from "../../choice/entries.js";

const EXAMPLE = "height,width,kind\n1.2,0.4,a\n0.7,1.1,b\n…";

/**
 * @param {HTMLElement} host
 * @param {{onTable: (text: string) => void}} on
 */
export function createTable(host, { onTable }) {
  const { rows, columns, bytes } = catalogue().limits.table;
  const id = freshId();
  const field = element("textarea", {
    id,
    rows: 4,
    spellcheck: "false",
    placeholder: EXAMPLE,
    onchange: () => taken(field.value),
    oninput: ({ inputType }) => inputType === "insertFromPaste" && taken(field.value),
  });
  const file = element("input", {
    type: "file",
    accept: ".csv,.tsv,.txt,text/csv",
    "aria-label": "Open a file",
    onchange: read,
  });
  const limits = `At most ${rows.toLocaleString("en-US")} rows and ${columns} columns. The last column is what is learnt: a class, or a number.`;
  const said = element("p", { class: "next", role: "status" });
  host.append(
    element(
      "label",
      { for: id },
      element("b", {}, "Paste a table"),
      ` ${limits} It stays in this tab and on the server while it trains; it is never part of a link.`,
    ),
    field,
    element("div", { class: "own-file" }, file, said),
  );

  async function read() {
    const [chosen] = file.files;
    if (!chosen) return;
    if (chosen.size > bytes) return setText(said, tooLarge(chosen.size));
    field.value = await chosen.text();
    taken(field.value);
  }

  /** @param {string} text */
  function taken(text) {
    const size = new Blob([text]).size;
    setText(said, size > bytes ? tooLarge(size) : "");
    if (size <= bytes) onTable(text);
  }

  /** @param {number} size in bytes */
  function tooLarge(size) {
    return `These are ${size.toLocaleString("en-US")} bytes: at most ${bytes.toLocaleString("en-US")} can be taken.`;
  }

  return {
    /** @param {{visible: boolean, text: string}} picture */
    show({ visible, text }) {
      setAttribute(host, "hidden", !visible);
      if (visible) setValue(field, text);
    },
  };
}
