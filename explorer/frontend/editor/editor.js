// A field for code: its lines are numbered, Tab indents, Escape and then Tab leaves it, and one line may be marked.

import { element, freshId, setAttribute, setText } from "../elements/dom.js";

const INDENT = "    ";
const PAUSE_MS = 250; // between two keys of one who types
const HINT = "Tab indents; Escape, then Tab, leaves the field.";

/**
 * The field with its label. ``onRest`` is called with the text when nobody has typed for a moment.
 * @param {{label: string, text?: string, rows: number, placeholder?: string, onRest: (text: string) => void}} options
 *   ``rows`` are shown at least
 */
export function createEditor({ label, text = "", rows, placeholder, onRest }) {
  const [id, hint] = [freshId(), freshId()];
  let timer = 0;
  let leaves = false; // with the next Tab
  const numbers = element("div", { class: "editor-lines", "aria-hidden": "true" });
  const box = element("textarea", {
    ...{ id, placeholder, wrap: "off", spellcheck: "false", "aria-describedby": hint },
    ...{ autocapitalize: "off", autocomplete: "off", autocorrect: "off" },
    oninput: typed,
    onkeydown: pressed,
    onblur: () => (leaves = false),
    onscroll: () => (numbers.scrollTop = box.scrollTop),
  });
  const field = element("div", { class: "editor-field" }, numbers, box);
  const title = element("label", { for: id }, label);

  function typed() {
    number();
    mark(0);
    clearTimeout(timer);
    timer = setTimeout(() => onRest(box.value), PAUSE_MS);
  }

  function number() {
    const count = box.value.split("\n").length;
    box.rows = Math.max(rows, count);
    if (numbers.childElementCount === count) return;
    numbers.replaceChildren(
      ...Array.from({ length: count }, (_, index) => element("span", {}, String(index + 1))),
    );
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const plain = !(event.ctrlKey || event.metaKey || event.altKey);
    if (event.key === "Escape") leaves = true;
    else if (event.key === "Tab" && plain && !leaves) indent(event);
    else if (event.key === "Enter" && plain && !event.isComposing) goOn(event);
    else if (event.key !== "Shift" && event.key !== "Tab") leaves = false;
  }

  /** Move the lines that are chosen by an indentation, or write one. @param {KeyboardEvent} event */
  function indent(event) {
    event.preventDefault();
    const { selectionStart: from, selectionEnd: to, value } = box;
    if (from === to && !event.shiftKey) return write(INDENT);
    const start = value.lastIndexOf("\n", from - 1) + 1;
    const lines = value.slice(start, to).split("\n");
    const moved = lines.map((/** @type {string} */ line) =>
      event.shiftKey ? line.replace(/^ {1,4}/, "") : line && INDENT + line,
    );
    box.setSelectionRange(start, to);
    write(moved.join("\n"));
    const shift = moved[0].length - lines[0].length;
    const end = start + moved.join("\n").length;
    return from === to
      ? box.setSelectionRange(Math.max(start, from + shift), Math.max(start, from + shift))
      : box.setSelectionRange(start, end);
  }

  /** A new line begins as far in as this one, and further behind a colon. @param {KeyboardEvent} event */
  function goOn(event) {
    event.preventDefault();
    const before = box.value.slice(0, box.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const [margin] = /** @type {RegExpMatchArray} */ (line.match(/^ */));
    write(`\n${margin}${line.trimEnd().endsWith(":") ? INDENT : ""}`);
  }

  /** Put text in the place of what is chosen, so that the browser can undo it. @param {string} piece */
  function write(piece) {
    box.focus();
    if (piece ? document.execCommand("insertText", false, piece) : document.execCommand("delete")) return;
    box.setRangeText(piece, box.selectionStart, box.selectionEnd, "end");
    typed();
  }

  /** @param {number} line the first is 1; 0 for none */
  function mark(line) {
    setAttribute(field, "data-marked", line > 0);
    field.style.setProperty("--marked", String(line));
    [...numbers.children].forEach((each, index) => each.classList.toggle("marked", index + 1 === line));
  }

  function set(/** @type {string} */ content) {
    clearTimeout(timer);
    box.value = content;
    number();
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
