// The code of a lesson: the lines that its question is about, and all that runs.

import { isCopied } from "../elements/clipboard.js";
import { element, setText } from "../elements/dom.js";

/** Kind and text of each part of some code. @typedef {[string, string][]} Spans */

/**
 * The lines that a question is about. ``light`` shows which one decides.
 * @param {{lines: Spans[], decides: number}} excerpt
 */
export function createExcerpt({ lines, decides }) {
  const rows = lines.map((spans) => element("span", { class: "line" }, ...coloured(spans), "\n"));
  const code = element("code", {}, ...rows);
  const label = "The code that is asked about";
  return {
    element: element("pre", { class: "excerpt", tabindex: 0, role: "region", "aria-label": label }, code),
    light: () => rows[decides].classList.add("decides"),
  };
}

/** All code of a lesson, to be read and copied. @param {Spans} spans */
export function wholeCode(spans) {
  const pre = element("pre", { tabindex: 0, role: "region", "aria-label": "Code" });
  pre.append(element("code", {}, ...coloured(spans)));
  const text = spans.map(([, part]) => part).join("");
  const summary = element("summary", {}, "The code that runs");
  return element("details", { class: "code", open: true }, summary, copyButton(text), pre);
}

/** @param {string} text */
function copyButton(text) {
  const button = element("button", { class: "copy", onclick: copy }, "Copy");

  async function copy() {
    setText(button, (await isCopied(text)) ? "Copied" : "Not allowed here: select the code and copy it");
  }

  return button;
}

/** Code as it is coloured. @param {Spans} spans */
export function coloured(spans) {
  return spans.map(([kind, text]) => (kind ? element("span", { class: `code-${kind}` }, text) : text));
}
