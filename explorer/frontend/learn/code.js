// The code of a lesson: an excerpt of a few lines for its question, and the complete script.

import { copyText } from "../elements/clipboard.js";
import { element, setText } from "../elements/dom.js";

/** A piece of code: the kind (for its colour) and the text of each token. @typedef {[string, string][]} Spans */

/**
 * Create the lines of code that a lesson's question is about. ``light`` highlights the line that decides the answer.
 * @param {{lines: Spans[], decides: number}} excerpt ``decides``: the index of that line
 */
export function createExcerpt({ lines, decides }) {
  const rows = lines.map((spans) => element("span", { class: "line" }, ...renderSpans(spans), "\n"));
  const code = element("code", {}, ...rows);
  const label = "The code that is asked about";
  return {
    element: element("pre", { class: "excerpt", tabindex: 0, role: "region", "aria-label": label }, code),
    light: () => rows[decides].classList.add("decides"),
  };
}

/** Create a section with the complete code of a lesson and a button that copies it. @param {Spans} spans */
export function createFullCode(spans) {
  const pre = element("pre", { role: "region", "aria-label": "Code" });
  pre.append(element("code", {}, ...renderSpans(spans)));
  const text = spans.map(([, part]) => part).join("");
  const title = element("h3", {}, "The code that runs");
  const copy = async () =>
    setText(button, (await copyText(text)) ? "Copied" : "Not allowed here: select the code and copy it");
  const button = element("button", { class: "copy", onclick: copy }, "Copy");
  return element("section", { class: "code" }, title, button, pre);
}

/** Convert code to coloured elements and plain strings. @param {Spans} spans */
export function renderSpans(spans) {
  return spans.map(([kind, text]) => (kind ? element("span", { class: `code-${kind}` }, text) : text));
}
