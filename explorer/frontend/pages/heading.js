// The buttons beside the title: one puts the page on a stage, one copies the link to the present choice.

import { isQueryShort, toQuery } from "../choice/address.js";
import { setPresenting } from "../choice/presentation.js";
import { isCopied } from "../elements/clipboard.js";
import { element, setText } from "../elements/dom.js";
import { store } from "../choice/store.js";

const SAID_MS = 2000;

/** The buttons, and a reserved space for what is said of the link. @param {HTMLElement} host */
export function createButtons(host) {
  const said = element("span", { role: "status", class: "said" });
  const button = element("button", { onclick: copy }, "Copy link");
  let timer = 0;

  async function copy() {
    const whole = !store.choice || isQueryShort(toQuery(store.choice));
    say(whole ? await copied(location.href) : "This choice is too long for a link.");
  }

  /** @param {string} words */
  function say(words) {
    clearTimeout(timer);
    setText(said, words);
    timer = setTimeout(() => setText(said, ""), SAID_MS);
  }

  const stage = element("button", { class: "to-stage", onclick: () => setPresenting(true) }, "Present (p)");
  host.replaceChildren(stage, button, said);
  return { destroy: () => clearTimeout(timer) };
}

/** Copy a text and say how it went; a browser may forbid it. @param {string} text */
async function copied(text) {
  return (await isCopied(text)) ? "Copied" : "The browser does not allow it: copy the address above.";
}
