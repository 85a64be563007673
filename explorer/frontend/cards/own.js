// The field of an own formula: read by Python as it is typed, with the mistake below it.

import { element, focusedNear, freshId, setAttribute, setText, setValue } from "../elements/dom.js";
import { getCatalogue, isCustom, getCustomText } from "../choice/entries.js";

/** @import { Entry } from "../formula/entry.js" */
/**
 * The reader of a formula: ``onWait`` gets the reason of a wait, ``prepare`` is called before one is typed.
 * @typedef {(kind: "op"|"rule"|"loss", text: string, onWait?: (words: string) => void) => Promise<{entry: Entry}|
 *   {message: string, column: number}|null>} ReadOne
 * @typedef {ReadOne & {prepare?: () => unknown}} Read
 */

/** The label of a field, and what its formula is equal to. */
const TITLES = { op: ["Own op", "y ="], rule: ["Own rule", "gradient ="], loss: ["Loss", "f ="] };
const PAUSE_MS = 80; // between two keys of one who types

/**
 * A field for a formula. While it cannot be read the last good one stays drawn.
 * @param {{kind: "op"|"rule"|"loss", read: Read|null, onEntry: (entry: *) => void}} options ``read`` is null
 *   if there is no reader of formulas: in a saved file
 */
export function createOwnField({ kind, read, onEntry }) {
  let timer = 0;
  let turn = 0;
  let isUnread = false;
  let drawn = "";
  const id = freshId();
  const [title, start] = TITLES[kind];
  const field = element("input", {
    type: "text",
    id: freshId(),
    maxlength: getCatalogue().limits.formula,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    "aria-describedby": id,
    readonly: read === null,
  });
  const caret = element("span", { class: "caret", "aria-hidden": "true" }, "^");
  const mistake = element("p", { class: "mistake", id, role: "status" });
  field.addEventListener("input", () => {
    isUnread = true;
    clearTimeout(timer);
    timer = setTimeout(reading, PAUSE_MS);
  });
  field.addEventListener("focus", () => read?.prepare?.());
  field.addEventListener("scroll", () => caret.style.setProperty("--scrolled", `${field.scrollLeft}px`));

  async function reading() {
    const mine = ++turn;
    const answer = read && (await read(kind, field.value, (words) => mine === turn && wait(words)));
    if (mine !== turn) return;
    isUnread = false;
    if (answer && "entry" in answer) onEntry(answer.entry);
    say(answer ?? { message: "The server does not answer", column: 0 });
  }

  /** @param {string} words why nothing is drawn yet */
  function wait(words) {
    say(null);
    setText(mistake, words);
  }

  /** @param {{entry: Entry}|{message: string, column: number}|null} answer null while it is being read */
  function say(answer) {
    const wrong = answer !== null && "message" in answer;
    setText(mistake, wrong ? `${sentence(answer.message)} The last good formula stays.` : "");
    setAttribute(mistake, "title", wrong ? mistake.textContent : null);
    setAttribute(field, "aria-invalid", wrong ? "true" : null);
    caret.hidden = !(wrong && answer.column);
    if (wrong) caret.style.setProperty("--column", String(answer.column - 1));
  }

  /** Drop an answer that comes too late: something else has been chosen meanwhile. */
  function forget() {
    clearTimeout(timer);
    turn += 1;
    isUnread = false;
  }

  caret.hidden = true;
  return {
    element: element(
      "div",
      { class: "own" },
      element("label", { for: field.id }, `${title}: `, element("code", {}, start)),
      element("div", { class: "typed" }, field, caret),
      mistake,
    ),
    /** @param {{key: string}} entry the drawn one */
    update(entry) {
      const isOther = entry.key !== drawn;
      drawn = entry.key;
      if (focusedNear(field) !== field) {
        if (isUnread && !isOther) return; // the typed text is yet to come
        forget();
        say(null);
      }
      setValue(field, isCustom(entry.key) ? getCustomText(entry.key) : entry.key);
    },
    forget,
    focus: () => field.select(),
  };
}

/** Words as a whole sentence; a function's name keeps its letters. @param {string} words */
function sentence(words) {
  const first = /^\w+(\([^ )]*\))? at column/.test(words)
    ? words
    : words.charAt(0).toUpperCase() + words.slice(1);
  return /[.?!]$/.test(first) ? first : `${first}.`;
}
