// A button that downloads a file made in the browser.

import { element, saveAs, setText } from "../../elements/dom.js";

const REVOKE_MS = 20_000; // time for the browser to read the file

/** Create a download button. Its file is made when the button is pressed. */
export function createDownload() {
  /** @type {{name: string, type: string, content: () => string}|null} */
  let file = null;
  const button = element("button", { onclick: () => file && download(file) });
  return {
    element: button,
    /**
     * @param {string} label text of the button @param {string} name the file's name @param {string} type its MIME type
     * @param {() => string} content returns its text
     */
    offer(label, name, type, content) {
      setText(button, label);
      file = { name, type, content };
    },
  };
}

/** Save text as a file on the user's computer. @param {{name: string, type: string, content: () => string}} file */
export function download({ name, type, content }) {
  const href = URL.createObjectURL(new Blob([content()], { type }));
  saveAs(href, name);
  setTimeout(() => URL.revokeObjectURL(href), REVOKE_MS);
}
