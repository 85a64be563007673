// A button that opens a file, in the page's own font and language instead of the browser's.

import { element } from "./dom.js";

/**
 * Create a button with which the user opens a file. It is a label around the browser's own file field, which keeps
 * focus, keys and dialog.
 * @param {string} name the label
 * @param {{accept: string, onFile: (file: File) => void}} options ``accept``: as for a file field; ``onFile``: called
 *   with the file
 * @returns {HTMLElement}
 */
export function createFileButton(name, { accept, onFile }) {
  const field = element("input", { type: "file", accept, onchange: handleChange });

  function handleChange() {
    const [file] = field.files;
    field.value = ""; // so that opening the same file again fires a change
    if (file) onFile(file);
  }

  return element("label", { class: "file-button" }, name, field);
}
