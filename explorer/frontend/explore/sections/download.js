// A button that downloads a file made in the browser.

import { element, saveBlob, setText } from "../../elements/dom.js";

/** Create a download button. Its file is made when the button is pressed. */
export function createDownload() {
  let save = () => {};
  const button = element("button", { onclick: () => save() });
  return {
    element: button,
    /**
     * @param {string} label text of the button @param {string} name the file's name @param {string} type its MIME type
     * @param {() => string} content returns its text
     */
    offer(label, name, type, content) {
      setText(button, label);
      save = () => saveBlob(new Blob([content()], { type }), name);
    },
  };
}
