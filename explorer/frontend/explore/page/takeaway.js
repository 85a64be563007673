// The button that saves the whole instrument as one file.

import { queryOf } from "../../choice/address.js";
import { element, setText } from "../../elements/dom.js";
import { download } from "../sections/download.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @typedef {(choice: Choice) => Promise<string>} Write gives the text of the file */

const NAME = "Save as HTML";
const GONE = "The file could not be loaded: try again.";

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, address: string}} options ``address``
 *   answers the query of a choice with the file
 */
export function createTakeAway(host, { store, address }) {
  const link = element("a", { class: "save", download: true }, NAME);
  host.append(link);
  const stop = store.follow((choice, { phase }) => {
    if (phase === "settled") link.href = `${address}?${queryOf(choice)}`;
  });
  return { destroy: stop };
}

/**
 * The same where the page writes the file itself.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, write: Write}} options
 */
export function createWriting(host, { store, write }) {
  const said = element("span", { role: "status", class: "said" });
  const button = element("button", { class: "save", onclick: save }, NAME);

  async function save() {
    setText(said, "");
    const text = await write(store.now).catch(() => "");
    if (text) download({ name: "gradient-explorer.html", type: "text/html", content: () => text });
    else setText(said, GONE);
  }

  host.append(element("span", { class: "saving" }, said, " ", button));
  return { destroy: () => undefined };
}
