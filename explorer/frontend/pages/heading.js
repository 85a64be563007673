// The buttons next to the page's title: presentation mode, and a copy of the page's link.

import { isQueryShort, toQuery } from "../choice/address.js";
import { setPresenting } from "../choice/presentation.js";
import { copyText } from "../elements/clipboard.js";
import { element, setText } from "../elements/dom.js";
import { store } from "../choice/store.js";

const STATUS_MS = 2000;

/** Create the buttons next to the title of a page, with space for a message. @param {HTMLElement} host */
export function createButtons(host) {
  const status = element("span", { role: "status", class: "said text-small" });
  const button = element("button", { onclick: copy }, "Copy link");
  let timer = 0;

  async function copy() {
    const isShort = !store.choice || isQueryShort(toQuery(store.choice));
    if (!isShort) showStatus("This choice is too long for a link.");
    else if (await copyText(location.href)) showStatus("Copied");
    else showStatus("The browser does not allow it: copy the address above.");
  }

  /** @param {string} words */
  function showStatus(words) {
    clearTimeout(timer);
    setText(status, words);
    timer = setTimeout(() => setText(status, ""), STATUS_MS);
  }

  const stage = element("button", { class: "to-stage", onclick: () => setPresenting(true) }, "Present (p)");
  host.replaceChildren(stage, button, status);
  return { destroy: () => clearTimeout(timer) };
}
