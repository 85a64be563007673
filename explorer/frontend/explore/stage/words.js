// The sentences above the chart, with a label that says whether torch has confirmed the curves.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";

/**
 * Python's sentences about the curves. ``head``: a headline; ``main``: always visible; ``rest``: opened on demand;
 * ``below``: the main sentence if there is a headline.
 * @typedef {{head: string, main: string, rest: string, below?: string}} Words
 */

/** The sentences without an answer from Python: none. @type {Words} */
export const NO_WORDS = { head: "", main: "", rest: "" };
const PENDING_TEXT = "…";
const EXPLANATION =
  "The browser draws every curve at once, so that it follows your hand. Once you rest, torch computes the " +
  "same curves in Python, and its values take their place: then they are confirmed.";

/**
 * Create the sentences above the chart. A menu opens further ones, and the explanation of the label about torch.
 * @param {HTMLElement} host @param {string} [explanation]
 */
export function createWords(host, explanation = EXPLANATION) {
  const head = element("h2", { class: "headline" });
  const main = element("p", { class: "main" });
  const below = element("p", { class: "below" });
  const rest = element("p", { class: "rest" });
  const explained = element("p", { hidden: true }, explanation);
  const moreMenu = createMenu("More", rest, explained);
  const sign = element("span", { class: "sign", role: "status" });
  const sentences = element("div", { class: "sentences" }, head, main, below);
  host.append(sentences, moreMenu, element("span", { class: "confirmation flex-row" }, sign));

  /** Hide the menu while it is empty. Without a label, there is nothing to explain. */
  function arrangeMenu() {
    explained.hidden = !sign.textContent;
    moreMenu.hidden = !rest.textContent && explained.hidden;
  }

  return {
    /** @param {Words|null|undefined} words the sentences, null until those for the displayed curves arrive */
    show(words) {
      if (words) setText(head, words.head);
      if (words) setText(below, words.below ?? "");
      if (words) setText(main, words.main);
      else if (!main.textContent) setText(main, PENDING_TEXT);
      if (words) setText(rest, words.rest);
      arrangeMenu();
      for (const part of [head, main, below]) part.classList.toggle("stale", !words);
    },
    /**
     * Update the label that says whether torch has confirmed the curves.
     * @param {string} status @param {string} [text] text of the label; by default, the last one stays
     */
    say(status, text) {
      setAttribute(sign, "data-status", status);
      if (text !== undefined) setText(sign, text);
      arrangeMenu();
    },
    /** Return all sentences as one text for screen readers. */
    text: () => [main.textContent, rest.textContent].join(" ").trim(),
  };
}
