// The sentences above the chart, and the sign that says whether torch has confirmed the curves.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";

/**
 * The headline, the main sentences, the others. ``below`` stands below a headline that is the main sentence itself.
 * @typedef {{head: string, main: string, rest: string, below?: string}} Words
 */

/** @type {Words} Python alone has them for each choice */
export const NO_WORDS = { head: "", main: "", rest: "" };
const NOT_YET = "…";
const EXPLANATION =
  "The browser draws every curve at once, so that it follows your hand. Once you rest, torch computes the " +
  "same curves on the server, and its values take their place: then they are confirmed.";

/**
 * The words above the chart, in a place of a fixed size; the rest opens.
 * @param {HTMLElement} host
 * @param {string} [explanation] of the sign
 */
export function createWords(host, explanation = EXPLANATION) {
  const head = element("h2", { class: "headline" });
  const main = element("p", { class: "main" });
  const below = element("p", { class: "below" });
  const rest = element("p", { class: "rest" });
  const more = createMenu("More", rest);
  const sign = element("span", { class: "sign", role: "status" });
  const explained = createMenu("?", element("p", {}, explanation));
  setAttribute(/** @type {Element} */ (explained.firstChild), "aria-label", "What confirmed by torch means");
  host.append(head, main, below, more, element("span", { class: "confirmation" }, sign, explained));

  return {
    /** @param {Words|null|undefined} words null while they are not known for the displayed curves */
    show(words) {
      if (words) setText(head, words.head);
      if (words) setText(below, words.below ?? "");
      if (words) setText(main, words.main);
      else if (!main.textContent) setText(main, NOT_YET);
      if (words) setText(rest, words.rest);
      more.hidden = !rest.textContent;
      for (const part of [head, main, below]) part.classList.toggle("stale", !words);
    },
    /** @param {string} status @param {string} [text] without one the last stays, and fades */
    say(status, text) {
      setAttribute(sign, "data-status", status);
      if (text !== undefined) setText(sign, text);
    },
    /** All of it as one text, for those who cannot see the chart. */
    text: () => [main.textContent, rest.textContent].join(" ").trim(),
  };
}
