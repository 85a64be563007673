// A text field for a formula. Python parses it while the user types, and errors appear below.

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
 * The parser of formulas: ``onWait`` gets the reason for a wait, ``prepare`` is called before a formula is typed.
 * ``code`` reads pasted code, or is null if nothing can.
 * @typedef {(kind: "op"|"rule"|"loss", text: string, onWait?: (words: string) => void) => Promise<{entry: Entry}|
 *   {message: string, column: number}|null>} ReadOne
 * @typedef {ReadOne & {prepare?: () => unknown,
 *   code?: ((text: string, onWait: (words: string) => void) => Promise<*>)|null}} Read
 */

const PAUSE_MS = 80; // the formula is parsed after a pause this long

/**
 * Create a text field for a formula. While the formula is invalid, the last valid one stays plotted.
 * @param {{kind: "op"|"rule"|"loss", read: Read|null, label: string, onTyped?: (text: string) => boolean,
 *   onEntry: (entry: *) => string|void}} options ``read`` is null in a saved file, which has no parser. ``onTyped``
 *   returns whether text may be a formula. ``onEntry`` gets the parsed formula, null for an invalid one, and returns
 *   a message
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
  const message = element("p", { class: "mistake", id, role: "status" });
  field.addEventListener("input", () => {
    forget();
    showAnswer(null);
    isPending = onTyped(field.value);
    if (isPending) timer = setTimeout(parseField, PAUSE_MS);
  });
  field.addEventListener("focus", () => read?.prepare?.());
  field.addEventListener("scroll", () => caret.style.setProperty("--scrolled", `${field.scrollLeft}px`));

  /** Ask Python to parse the typed formula. */
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

  /** Show why the formula has not been plotted yet. @param {string} words */
  const showWait = (words) => showAnswer(null, words && toSentence(words));

  /**
   * Show the error message from Python, if there is one.
   * @param {{entry: Entry}|{message: string, column: number}|null} answer null while the formula is being read
   * @param {string} [words] the message about a valid formula
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

  /** Discard a pending answer, because the user has chosen another op or rule. */
  function forget() {
    clearTimeout(timer);
    latest += 1;
    isPending = false;
  }

  /** Return whether the plotted entry is a formula of the user. */
  const isFormulaKey = () => kind === "loss" || isCustom(plottedKey);

  caret.hidden = true;
  return {
    input: field,
    message,
    typed: element("div", { class: "typed" }, field, caret),
    /** Show the plotted entry in the field. @param {{key: string, label?: string}} entry */
    update(entry) {
      const isOther = entry.key !== plottedKey;
      plottedKey = entry.key;
      const text = isCustom(entry.key) ? getCustomText(entry.key) : entry.key;
      plottedText = isFormulaKey() ? text : (entry.label ?? "");
      setAttribute(field, "title", plottedText);
      if (getFocused(field) !== field && (isOther || field.value !== plottedText)) {
        if (isPending && !isOther) return; // the typed formula has not been parsed yet
        forget();
        showAnswer(null);
      }
      setValue(field, plottedText);
    },
    /** Replace a rejected text by the plotted one, unless Python is still parsing it. */
    reset() {
      if (isPending && isFormulaKey()) return;
      forget();
      showAnswer(null);
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
