// A button that has a file chosen: the browser's own says "Choose file" in its own language and letters.

import { element } from "./dom.js";

/**
 * A label that looks as a button does, around the browser's field, which keeps focus, keys and dialog.
 * @param {string} name of what is opened
 * @param {{accept: string, onFile: (file: File) => void}} options ``accept`` as of a field for files
 * @returns {HTMLElement}
 */
export function createFileButton(name, { accept, onFile }) {
  const field = element("input", { type: "file", accept, onchange: chosen });

  function chosen() {
    const [file] = field.files;
    field.value = ""; // so that the same one may be opened again
    if (file) onFile(file);
  }

  return element("label", { class: "file-button" }, name, field);
}
