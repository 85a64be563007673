// A code editor with line numbers. Tab indents the code; Escape followed by Tab leaves the editor.

import { element, createId, setAttribute, setText } from "../elements/dom.js";

const INDENT = "    ";
const PAUSE_MS = 250; // pause after which the text counts as typed
const HINT = "Tab indents; Escape, then Tab, leaves the field.";

/**
 * Create a code editor with a label.
 * @param {{label: string, text?: string, rows: number, placeholder?: string, onRest: (text: string) => void}} options
 *   ``rows``: minimum height in lines; ``onRest``: called with the text when the user stops typing
 */
export function createEditor({ label, text = "", rows, placeholder, onRest }) {
  const [id, hint] = [createId(), createId()];
  let timer = 0;
  let isNew = true; // whether nothing was typed into the text
  let leaves = false; // whether the next Tab moves the focus, as after Escape
  const numbers = element("div", { class: "editor-lines", "aria-hidden": "true" });
  const box = element("textarea", {
    ...{ id, placeholder, wrap: "off", spellcheck: "false", "aria-describedby": hint },
    ...{ autocapitalize: "off", autocomplete: "off", autocorrect: "off" },
    oninput: handleInput,
    onkeydown: handleKey,
    onblur: () => (leaves = false),
    onscroll: () => (numbers.scrollTop = box.scrollTop),
  });
  const field = element("div", { class: "editor-field" }, numbers, box);
  const title = element("label", { for: id }, label);

  function handleInput() {
    isNew = false;
    numberLines();
    mark(0);
    clearTimeout(timer);
    timer = setTimeout(() => onRest(box.value), PAUSE_MS);
  }

  function numberLines() {
    const count = box.value.split("\n").length;
    box.rows = Math.max(rows, count);
    if (numbers.childElementCount === count) return;
    numbers.replaceChildren(
      ...Array.from({ length: count }, (_, index) => element("span", {}, String(index + 1))),
    );
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const plain = !(event.ctrlKey || event.metaKey || event.altKey);
    if (event.key === "Escape") leaves = true;
    else if (event.key === "Tab" && plain && !leaves) indent(event);
    else if (event.key === "Enter" && plain && !event.isComposing) breakLine(event);
    else if (event.key !== "Shift" && event.key !== "Tab") leaves = false;
  }

  /** Indent or unindent the selected lines. Without a selection, insert an indentation. @param {KeyboardEvent} event */
  function indent(event) {
    event.preventDefault();
    const { selectionStart: first, selectionEnd: last, value } = box;
    if (first === last && !event.shiftKey) return write(INDENT);
    const start = value.lastIndexOf("\n", first - 1) + 1;
    const lines = value.slice(start, last).split("\n");
    const moved = lines.map((/** @type {string} */ line) =>
      event.shiftKey ? line.replace(/^ {1,4}/, "") : line && INDENT + line,
    );
    box.setSelectionRange(start, last);
    write(moved.join("\n"));
    const shift = moved[0].length - lines[0].length;
    const end = start + moved.join("\n").length;
    return first === last
      ? box.setSelectionRange(Math.max(start, first + shift), Math.max(start, first + shift))
      : box.setSelectionRange(start, end);
  }

  /** Start a new line, indented like the current one or more after a colon. @param {KeyboardEvent} event */
  function breakLine(event) {
    event.preventDefault();
    const before = box.value.slice(0, box.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const [margin] = /** @type {RegExpMatchArray} */ (line.match(/^ */));
    write(`\n${margin}${line.trimEnd().endsWith(":") ? INDENT : ""}`);
  }

  /** Replace the selected text so that the browser can undo it. @param {string} piece */
  function write(piece) {
    box.focus();
    if (piece ? document.execCommand("insertText", false, piece) : document.execCommand("delete")) return;
    box.setRangeText(piece, box.selectionStart, box.selectionEnd, "end");
    handleInput();
  }

  /** @param {number} line its number, starting at 1; 0 for none */
  function mark(line) {
    setAttribute(field, "data-marked", line > 0);
    if (line && isNew) box.scrollTop = (box.scrollHeight / numbers.childElementCount) * (line - 3);
    field.style.setProperty("--marked", String(line));
    [...numbers.children].forEach((each, index) => each.classList.toggle("marked", index + 1 === line));
  }

  function set(/** @type {string} */ content) {
    clearTimeout(timer);
    box.value = content;
    isNew = true;
    numberLines();
    mark(0);
  }

  set(text);
  return {
    element: element(
      "div",
      { class: "editor" },
      title,
      field,
      element("p", { id: hint, class: "editor-hint" }, HINT),
    ),
    get text() {
      return /** @type {string} */ (box.value);
    },
    set,
    mark,
    focus: () => box.focus({ preventScroll: true }),
    /** @param {string} words */
    rename: (words) => setText(title, words),
    destroy: () => clearTimeout(timer),
  };
}
