// A text field for a formula. Python parses it while it is typed, and errors appear below it.

import {
  element,
  getFocused,
  createId,
  setAttribute,
  setText,
  setValue,
  writeValue,
} from "../elements/dom.js";
import { getCatalogue, isCustom, getCustomText } from "../choice/entries.js";

/** @import { Entry } from "../formula/entry.js" */
/**
 * A function that has Python parse a formula. It resolves to the entry, to an error with its column, or to null if a
 * later request has replaced it.
 * @typedef {(kind: "op"|"rule"|"loss", text: string, onWait?: (words: string) => void) => Promise<{entry: Entry}|
 *   {message: string, column: number}|null>} ReadOne
 * @typedef {ReadOne & {prepare?: () => unknown, code?: ((text: string, onWait: (words: string) => void) =>
 *   Promise<*>)|null}} Read also parses pasted code (``code``, null if nothing can); ``prepare``: called before typing
 *   begins
 */

const PAUSE_MS = 80; // pause in typing after which a formula is parsed

/**
 * Create a text field for a formula. While it is invalid, the last valid formula stays plotted.
 * @param {{kind: "op"|"rule"|"loss", read: Read|null, label: string, onTyped?: (text: string) => boolean, onEntry:
 *   (entry: *) => string|void}} options ``read``: null without Python; ``onTyped``: returns whether the text may be a
 *   formula; ``onEntry``: called with the parsed formula, or null for an invalid one; returns a message
 */
export function createFormulaField({ kind, read, label, onTyped = () => true, onEntry }) {
  let timer = 0;
  let latest = 0;
  let isPending = false;
  let plottedKey = "";
  let plottedText = "";
  const id = createId();
  const field = element("input", {
    type: "text",
    id: createId(),
    maxlength: getCatalogue().limits.formula,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    "aria-label": label,
    "aria-describedby": id,
    readonly: read === null && kind === "loss",
  });
  const caret = element("span", { class: "caret", "aria-hidden": "true" }, "^");
  const message = element("p", { class: "mistake text-small", id, role: "status" });
  field.addEventListener("input", () => {
    forget();
    isPending = onTyped(field.value);
    if (isPending) timer = setTimeout(parseField, PAUSE_MS);
  });
  field.addEventListener("focus", () => read?.prepare?.());
  field.addEventListener("scroll", () => caret.style.setProperty("--scrolled", `${field.scrollLeft}px`));

  async function parseField() {
    clearTimeout(timer);
    const requestId = ++latest;
    const answer =
      read && (await read(kind, field.value, (words) => requestId === latest && showWait(words)));
    if (requestId !== latest) return;
    isPending = false;
    const words = onEntry(answer && "entry" in answer ? answer.entry : null);
    showAnswer(answer ?? { message: "The server does not answer", column: 0 }, words ?? "");
  }

  /** @param {string} words */
  const showWait = (words) => showAnswer(null, words && toSentence(words));

  /**
   * @param {{entry: Entry}|{message: string, column: number}|null} answer the entry or an error, or null while the
   *   formula is being parsed
   * @param {string} [words] a message about a valid formula
   */
  function showAnswer(answer, words = "") {
    const wrong = answer !== null && "message" in answer;
    const kept = plottedKey && isFormulaKey() ? " The last good formula stays." : "";
    setText(message, wrong ? toSentence(answer.message) + kept : words);
    setAttribute(message, "title", wrong ? message.textContent : null);
    setAttribute(field, "aria-invalid", wrong ? "true" : null);
    caret.hidden = !(wrong && answer.column);
    if (wrong) caret.style.setProperty("--column", String(answer.column - 1));
  }

  /** Ignore a pending answer and remove the message. Called when another text, op or rule is shown. */
  function forget() {
    clearTimeout(timer);
    latest += 1;
    isPending = false;
    showAnswer(null);
  }

  const isFormulaKey = () => kind === "loss" || isCustom(plottedKey);

  caret.hidden = true;
  return {
    input: field,
    message,
    typed: element("div", { class: "typed" }, field, caret),
    /** @param {{key: string, label?: string}} entry */
    update(entry) {
      const isOther = entry.key !== plottedKey;
      plottedKey = entry.key;
      const text = isCustom(entry.key) ? getCustomText(entry.key) : entry.key;
      plottedText = isFormulaKey() ? text : (entry.label ?? "");
      setAttribute(field, "title", plottedText);
      if (getFocused(field) !== field && (isOther || field.value !== plottedText)) {
        if (isPending && !isOther) return; // keep a typed formula that Python has not parsed yet
        forget();
      }
      setValue(field, plottedText);
    },
    /** Replace an invalid text by the plotted formula, unless Python is still parsing it. */
    reset() {
      if (isPending && isFormulaKey()) return;
      forget();
      writeValue(field, plottedText);
    },
    /** Parse the typed formula without waiting for a pause. */
    settle: async () => isPending && parseField(),
    say: showWait,
    forget,
  };
}

/** Make a message a full sentence. A function name at its start keeps its case. @param {string} words */
function toSentence(words) {
  const first = /^\w+(\([^ )]*\))? at column/.test(words)
    ? words
    : words.charAt(0).toUpperCase() + words.slice(1);
  return /[.?!]$/.test(first) ? first : `${first}.`;
}
