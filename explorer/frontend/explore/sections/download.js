// A button that hands out a file the page has made.

import { element, saveAs, setText } from "../../elements/dom.js";

const KEPT_MS = 20_000; // not gone before the browser has read it

/** A button for a file that is made when it is pressed. */
export function createDownload() {
  /** @type {{name: string, type: string, content: () => string}|null} */
  let file = null;
  const button = element("button", { onclick: () => file && download(file) });
  return {
    element: button,
    /**
     * @param {string} label of the button
     * @param {string} name of the file
     * @param {string} type
     * @param {() => string} content
     */
    offer(label, name, type, content) {
      setText(button, label);
      file = { name, type, content };
    },
  };
}

/**
 * Have the browser save a text as a file.
 * @param {{name: string, type: string, content: () => string}} file
 */
export function download({ name, type, content }) {
  const href = URL.createObjectURL(new Blob([content()], { type }));
  saveAs(href, name);
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
}
