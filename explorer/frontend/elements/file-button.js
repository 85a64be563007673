// A button that opens a file; the browser's own button has its own language and font.

import { element } from "./dom.js";

/**
 * Create a label styled as a button around the browser's field, which keeps focus, keys and dialog.
 * @param {string} name the label
 * @param {{accept: string, onFile: (file: File) => void}} options ``accept`` as for a file field
 * @returns {HTMLElement}
 */
export function createFileButton(name, { accept, onFile }) {
  const field = element("input", { type: "file", accept, onchange: handleChange });

  function handleChange() {
    const [file] = field.files;
    field.value = ""; // so that the same file can be opened again
    if (file) onFile(file);
  }

  return element("label", { class: "file-button" }, name, field);
}
