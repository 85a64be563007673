// A button that opens a file. It replaces the browser's own button, which has another font and language.

import { element } from "./dom.js";

/**
 * Create a button that lets the user open a file.
 *
 * It is a label around the browser's own file field, which keeps focus, keys and dialog.
 * @param {string} name the label
 * @param {{accept: string, onFile: (file: File) => void}} options ``accept`` as for a file field
 * @returns {HTMLElement}
 */
export function createFileButton(name, { accept, onFile }) {
  const field = element("input", { type: "file", accept, onchange: handleChange });

  function handleChange() {
    const [file] = field.files;
    field.value = ""; // allows the user to open the same file again
    if (file) onFile(file);
  }

  return element("label", { class: "file-button" }, name, field);
}
