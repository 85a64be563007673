// A text field for a custom formula. Python parses it while the user types, and errors appear below.

import { element, getFocused, createId, setAttribute, setText, setValue } from "../elements/dom.js";
import { getCatalogue, isCustom, getCustomText } from "../choice/entries.js";

/** @import { Entry } from "../formula/entry.js" */
/**
 * The parser of formulas: ``onWait`` gets the reason for a wait, ``prepare`` is called before a formula is typed.
 * @typedef {(kind: "op"|"rule"|"loss", text: string, onWait?: (words: string) => void) => Promise<{entry: Entry}|
 *   {message: string, column: number}|null>} ReadOne
 * @typedef {ReadOne & {prepare?: () => unknown}} Read
 */

/** The label of a formula field, and the left side of its formula. */
const TITLES = { op: ["Own op", "y ="], rule: ["Own rule", "gradient ="], loss: ["Loss", "f ="] };
const PAUSE_MS = 80; // the formula is parsed after a pause this long

/**
 * Create a text field for a custom formula. While the formula is invalid, the last valid one stays plotted.
 * @param {{kind: "op"|"rule"|"loss", read: Read|null, onEntry: (entry: *) => void}} options ``read`` is null in a saved
 *   file, which has no parser
 */
export function createFormulaField({ kind, read, onEntry }) {
  let timer = 0;
  let latest = 0;
  let isPending = false;
  let plottedKey = "";
  const id = createId();
  const [title, start] = TITLES[kind];
  const field = element("input", {
    type: "text",
    id: createId(),
    maxlength: getCatalogue().limits.formula,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    "aria-describedby": id,
    readonly: read === null,
  });
  const caret = element("span", { class: "caret", "aria-hidden": "true" }, "^");
  const message = element("p", { class: "mistake", id, role: "status" });
  field.addEventListener("input", () => {
    isPending = true;
    clearTimeout(timer);
    timer = setTimeout(parseField, PAUSE_MS);
  });
  field.addEventListener("focus", () => read?.prepare?.());
  field.addEventListener("scroll", () => caret.style.setProperty("--scrolled", `${field.scrollLeft}px`));

  /** Ask Python to parse the typed formula. */
  async function parseField() {
    const requestId = ++latest;
    const answer =
      read && (await read(kind, field.value, (words) => requestId === latest && showWait(words)));
    if (requestId !== latest) return;
    isPending = false;
    if (answer && "entry" in answer) onEntry(answer.entry);
    showAnswer(answer ?? { message: "The server does not answer", column: 0 });
  }

  /** Show why the formula has not been plotted yet. @param {string} words */
  function showWait(words) {
    showAnswer(null);
    setText(message, words);
  }

  /**
   * Show the error message from Python, if there is one.
   * @param {{entry: Entry}|{message: string, column: number}|null} answer null while the formula is being read
   */
  function showAnswer(answer) {
    const wrong = answer !== null && "message" in answer;
    setText(message, wrong ? `${toSentence(answer.message)} The last good formula stays.` : "");
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

  caret.hidden = true;
  return {
    element: element(
      "div",
      { class: "own" },
      element("label", { for: field.id }, `${title}: `, element("code", {}, start)),
      element("div", { class: "typed" }, field, caret),
      message,
    ),
    /** Show the formula of an op or rule in the field. @param {{key: string}} entry the plotted entry */
    update(entry) {
      const isOther = entry.key !== plottedKey;
      plottedKey = entry.key;
      if (getFocused(field) !== field) {
        if (isPending && !isOther) return; // the typed formula has not been parsed yet
        forget();
        showAnswer(null);
      }
      setValue(field, isCustom(entry.key) ? getCustomText(entry.key) : entry.key);
    },
    forget,
    focus: () => field.select(),
  };
}

/** Make a message a full sentence. A function name at its start keeps its case. @param {string} words */
function toSentence(words) {
  const first = /^\w+(\([^ )]*\))? at column/.test(words)
    ? words
    : words.charAt(0).toUpperCase() + words.slice(1);
  return /[.?!]$/.test(first) ? first : `${first}.`;
}
