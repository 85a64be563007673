// The code of a lesson: an excerpt of a few lines for its question, and the complete script.

import { copyText } from "../elements/clipboard.js";
import { element, setText } from "../elements/dom.js";

/** A piece of code: the kind (for its colour) and the text of each token. @typedef {[string, string][]} Spans */

/**
 * Create the lines of code that a lesson's question is about. ``light`` highlights the line that decides the answer.
 * @param {{lines: Spans[], decides: number}} excerpt ``decides``: the index of that line
 */
export function createExcerpt({ lines, decides }) {
  const rows = lines.map(renderLine);
  const code = element("code", {}, ...rows);
  const label = "The code that is asked about";
  return {
    element: element("pre", { class: "excerpt", tabindex: 0, role: "region", "aria-label": label }, code),
    light: () => rows[decides].classList.add("decides"),
  };
}

/** Create a section with the complete code of a lesson and a button that copies it. @param {Spans} spans */
export function createFullCode(spans) {
  const pre = element("pre", { role: "region", "aria-label": "Code" }, renderCode(spans));
  const text = joinText(spans);
  const title = element("h3", {}, "The code that runs");
  const copy = async () =>
    setText(button, (await copyText(text)) ? "Copied" : "Not allowed here: select the code and copy it");
  const button = element("button", { class: "copy", onclick: copy }, "Copy");
  return element("section", { class: "code" }, title, button, pre);
}

/** Convert code of several lines to an element with one row for each line. @param {Spans} spans */
export function renderCode(spans) {
  const lines = /** @type {Spans[]} */ ([[]]);
  for (const [kind, text] of spans) {
    const [first, ...others] = text.split("\n");
    lines[lines.length - 1].push([kind, first]);
    lines.push(...others.map((other) => /** @type {Spans} */ ([[kind, other]])));
  }
  const last = joinText(lines[lines.length - 1]) ? lines.length : -1; // no row after the last line break
  return element("code", {}, ...lines.slice(0, last).map(renderLine));
}

/** Create the row of a line. If it is wrapped, it continues below its own beginning. @param {Spans} spans */
function renderLine(spans) {
  const row = element("span", { class: "line" }, ...renderSpans(spans), "\n");
  row.style.setProperty("--hang", `${joinText(spans).search(/\S|$/) + 4}ch`);
  return row;
}

const joinText = (/** @type {Spans} */ spans) => spans.map(([, text]) => text).join("");

/** Convert code to coloured elements and plain strings. @param {Spans} spans */
export function renderSpans(spans) {
  return spans.map(([kind, text]) => (kind ? element("span", { class: `code-${kind}` }, text) : text));
}
