// A field for the name of an op or rule, a formula or pasted code, with a list of the matching options.

import { addCustomEntry, isCustom } from "../choice/entries.js";
import { createEditor } from "../editor/editor.js";
import { element, createId, setAttribute } from "../elements/dom.js";
import { createFormulaField } from "./formula-field.js";
import { isFormula, isNamed, search } from "./search.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Entry, Op, Rule } from "../formula/entry.js" */
/**
 * The options of a picker. ``group``: the heading; ``entry``: null for a Function that cannot be plotted; ``choice``:
 * settings that plot a whole Function; ``barred``: why it cannot be chosen, or "".
 * @typedef {{entry: Op|Rule|null, group: string, choice: Choice|null, label: string, lines: string[], notes: string[],
 *   barred: string, picture: (() => Element)|null}} Option
 * @typedef {{listed: Option[], make: (entry: *) => Option, find: (readings: *[]) => Option[]}} Source ``listed``:
 *   options from the catalogue; ``make``: returns that of a formula; ``find``: returns those of pasted Functions
 */

const CODE = /^\s*(class|def|import|from|@\w+)\s|\n/;
const HINT = "A name, a formula or pasted code";

/**
 * Create a field with its list of options.
 * @param {{kind: "op"|"rule", label: string, read: import("./formula-field.js").Read|null, getSource: () => Source,
 *   isPopup: boolean, onChoose: (key: string, choice: Choice|null, isTyped: boolean) => void}} options ``read``: null
 *   without Python; ``isPopup``: whether the list opens below the field during use, and a formula takes effect during
 *   typing; ``onChoose``: called with the key, or with the settings for a whole Function
 */
export function createPicker({ kind, label, read, getSource, isPopup, onChoose }) {
  /** @type {Option[]} */
  let catalogue = [];
  /** @type {Option[]} */
  let matches = [];
  /** @type {HTMLElement[]} */
  let rows = [];
  /** @type {ReturnType<typeof createEditor>|null} */
  let editor = null;
  let active = -1;
  let latest = 0;
  let isOpen = !isPopup;
  let plottedKey = "";
  const id = createId();
  const field = createFormulaField({ kind, read, label, onTyped, onEntry: showFormula });
  const { input } = field;
  const list = element("div", {
    role: "listbox",
    id,
    "aria-label": { op: "Ops", rule: "Rules" }[kind],
    class: "options",
    tabindex: 0,
  });
  const panel = element("div", { class: "picker-panel" }, field.message, list);
  const container = element("div", { class: "picker" }, field.typed, panel);
  const end = new AbortController();
  setAttribute(input, "role", "combobox");
  if (!isPopup) setAttribute(input, "placeholder", read?.code ? HINT : "A name");
  setAttribute(input, "aria-controls", id);
  setAttribute(input, "aria-autocomplete", "list");
  setAttribute(input, "aria-expanded", String(isOpen));
  for (const part of [input, list]) part.addEventListener("keydown", handleKey);
  input.addEventListener("paste", handlePaste);
  if (isPopup) {
    panel.popover = "manual";
    for (const name of ["scroll", "resize"])
      addEventListener(name, place, { capture: true, signal: end.signal });
    container.addEventListener("focusout", (/** @type {FocusEvent} */ { relatedTarget }) => {
      if (!container.contains(/** @type {Node} */ (relatedTarget))) close();
    });
    input.addEventListener("click", () => {
      if (isOpen) return;
      open();
      input.select();
    });
  }

  function open() {
    catalogue = getSource().listed;
    isOpen = true;
    if (isPopup) panel.showPopover();
    setAttribute(input, "aria-expanded", "true");
    showEditor(false);
    showOptions(catalogue, true);
    field.say(read?.code && isPopup ? HINT : "");
    place();
    mark(catalogue.findIndex(({ entry }) => entry?.key === plottedKey));
  }

  function close() {
    if (!isPopup || !isOpen) return;
    isOpen = false;
    panel.hidePopover();
    list.replaceChildren();
    setAttribute(input, "aria-expanded", "false");
    setAttribute(input, "aria-activedescendant", null);
    field.reset();
  }

  function leave() {
    close();
    input.select();
  }

  function place() {
    if (!isPopup || !isOpen) return;
    const { left, top, bottom } = input.getBoundingClientRect();
    const height = window.visualViewport?.height ?? innerHeight;
    const isBelow = height - bottom > Math.min(top, 240);
    Object.assign(panel.style, {
      left: `${Math.max(8, Math.min(left, innerWidth - panel.offsetWidth - 8))}px`,
      top: isBelow ? `${bottom + 4}px` : "auto",
      bottom: isBelow ? "auto" : `${innerHeight - top + 4}px`,
      maxHeight: `${(isBelow ? height - bottom : top) - 12}px`,
    });
  }

  /** Show the options that match a typed text. Returns whether it may be a formula. @param {string} text */
  function onTyped(text) {
    if (!isOpen) open();
    latest += 1;
    if (read?.code && CODE.test(text)) {
      pasteCode(text);
      return false;
    }
    showEditor(false);
    const all = catalogue.map(({ entry }) => /** @type {Entry} */ (entry));
    const entries = search(all, text);
    matches = entries.map((entry) => catalogue[all.indexOf(entry)]);
    const mayBeFormula = isFormula(text) && !(entries.length && isNamed(entries[0], text));
    showOptions(matches, !text.trim());
    if (read && mayBeFormula) return true;
    const nothing = `Nothing here is called “${text}” or has it in its formula.`;
    const count = matches.length === 1 ? `1 ${kind}` : `${matches.length} ${kind}s`;
    field.say(matches.length ? `${count} found.` : nothing);
    return false;
  }

  /**
   * Show a typed formula as the first option.
   * @param {*} entry the parsed formula, or null if it is invalid @returns {string} a message, or ""
   */
  function showFormula(entry) {
    if (!entry) mark(-1);
    if (!entry) return "";
    addCustomEntry(kind, entry);
    const option = getSource().make(entry);
    if (isOpen) showOptions([option, ...matches]);
    if (rows[0]?.ariaDisabled) mark(-1); // Enter takes no other rule
    if (isPopup && isCustom(plottedKey)) onChoose(entry.key, null, true);
    const names = entry.parameters.map((/** @type {{name: string}} */ { name }) => name);
    return names.length ? `Formula with ${names.join(", ")} to set.` : "Formula.";
  }

  /** @param {boolean} shown */
  function showEditor(shown) {
    if (shown && !editor) {
      editor = createEditor({ label: "Paste a torch.autograd.Function", rows: 8, onRest: readCode });
      list.before(editor.element);
      editor.element.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Escape") return;
        event.preventDefault(); // keeps a dialog open: the next Escape, in the field, closes it
        if (isPopup) leave();
        else input.focus();
      });
    }
    if (editor) editor.element.hidden = !shown;
  }

  /** @param {string} text */
  function pasteCode(text) {
    if (!isOpen) open();
    field.reset();
    showEditor(true);
    editor?.set(text);
    editor?.focus();
    readCode(text);
  }

  /** Open the code editor if the clipboard contains several lines. @param {ClipboardEvent} event */
  function handlePaste(event) {
    const text = event.clipboardData?.getData("text") ?? "";
    if (!read?.code || !text.trim().includes("\n")) return;
    event.preventDefault();
    pasteCode(text);
  }

  /** @param {string} text */
  async function readCode(text) {
    const current = ++latest;
    const say = (/** @type {string} */ words) => current === latest && field.say(words);
    showOptions([]);
    if (!text.trim()) return say("The code is read, not run: lines that cannot be drawn are named.");
    const { readings = [], ...answer } = await /** @type {*} */ (read).code(text, say);
    if (current !== latest) return;
    const parts = /** @type {{at?: number}[]} */ (answer.message ? [answer] : readings);
    editor?.mark(parts.find(({ at }) => at)?.at ?? 0);
    showOptions(getSource().find(readings));
    const names = readings.map((/** @type {{name: string}} */ { name }) => name).join(", ");
    const count = readings.length === 1 ? "1 Function" : `${readings.length} Functions`;
    say(answer.message ?? `${count} found: ${names}.`);
  }

  /** @param {Option[]} options @param {boolean} [isGrouped] whether to show headings */
  function showOptions(options, isGrouped = false) {
    rows = options.map(createRow);
    const groups = [...new Set(options.map(({ group }) => group))].map((group) => {
      const name = element("div", { class: "group-name text-small", "aria-hidden": "true" }, group);
      const inside = rows.filter((_, at) => options[at].group === group);
      return element("div", { role: "group", "aria-label": group }, name, ...inside);
    });
    list.replaceChildren(...(isGrouped ? groups : rows));
    mark(isGrouped ? -1 : 0);
  }

  /** @param {Option} option */
  function createRow({ entry, choice, label: title, lines, notes, barred, picture }) {
    const choose = () => {
      onChoose(entry?.key ?? "", choice, false);
      if (isPopup) leave();
    };
    const texts = [...notes, barred].filter(Boolean).map((text) => element("small", {}, text));
    const codes = lines.map((line) => element("code", {}, line));
    const words = element("span", { class: "meaning" }, element("b", {}, title), ...codes, ...texts);
    const how = barred && entry?.key !== plottedKey ? { "aria-disabled": "true" } : { onclick: choose };
    const attributes = { role: "option", id: createId(), "aria-selected": "false", ...how };
    return element("div", attributes, words, ...(picture ? [picture()] : []));
  }

  /**
   * Highlight a row of the list or, if it cannot be chosen, the next one in a direction.
   * @param {number} start index of the row, -1 for none @param {number} [way] 1 for down, -1 for up
   */
  function mark(start, way = 1) {
    const order = rows.map((_, count) => (start + way * count + 2 * rows.length) % rows.length);
    active = start < 0 && way > 0 ? -1 : (order.find((at) => !rows[at].ariaDisabled) ?? -1);
    rows.forEach((one, at) => setAttribute(one, "aria-selected", String(at === active)));
    setAttribute(input, "aria-activedescendant", rows[active]?.id ?? null);
    rows[active]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const wasOnlyOpened = rows.length === catalogue.length; // Enter leaves it without a highlighted row
    const take = () => (rows[active] ? rows[active].click() : wasOnlyOpened && leave());
    if (step && !isOpen) open();
    else if (step && rows.length) mark(active + step, step);
    else if (event.key === "Enter" && isOpen) field.settle().then(take);
    else if (event.key === "Escape" && isOpen && isPopup) leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return {
    element: container,
    input,
    open,
    pasteCode,
    /** @param {Entry} entry */
    update(entry) {
      plottedKey = entry.key;
      field.update(entry);
      input.classList.toggle("custom", isCustom(entry.key));
    },
    destroy() {
      close();
      end.abort();
      editor?.destroy();
    },
  };
}
