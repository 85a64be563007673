// A dialog with a search field in which the user picks an op or a backward rule.

import { element, createId, setAttribute, setText } from "../elements/dom.js";
import { search } from "./search.js";

/** @import { Entry } from "../formula/entry.js" */
/**
 * A listed entry, with the heading of its group, the ``doubt`` why it may not suit, its picture, and ``barred``, the
 * reason why it cannot be chosen, or "".
 * @typedef {{entry: Entry, group: string, doubt: string, picture: () => Element, barred: string}} Option
 */

/**
 * Create a dialog in which the user picks an op or a rule. ``open`` shows options in their order. ``onChoose`` gets the
 * key of the chosen one.
 * @param {HTMLElement} host
 * @param {{title: string, searchLabel: string, onChoose: (key: string) => void, onDraw?: (() => void)|null}} options
 */
export function createPalette(host, { title, searchLabel, onChoose, onDraw = null }) {
  /** @type {Option[]} */
  let allOptions = [];
  /** @type {HTMLElement[]} */
  let rows = [];
  let active = 0;
  const listId = createId();
  const field = element("input", {
    type: "search",
    "aria-label": searchLabel,
    "aria-controls": listId,
    placeholder: searchLabel,
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = element("div", {
    role: "listbox",
    id: listId,
    "aria-label": title,
    class: "options",
    tabindex: 0,
  });
  const emptyText = element("p", { class: "none", role: "status" });
  const close = element(
    "button",
    { class: "close", "aria-label": "Close", onclick: () => dialog.close() },
    "×",
  );
  const head = element("div", { class: "palette-head" }, field, close);
  const draw = element(
    "button",
    { class: "draw", onclick: startDrawing, title: "Draw its gradient (key D)" },
    "Draw a rule",
  );
  const parts = onDraw ? [head, draw, emptyText, list] : [head, emptyText, list];
  const dialog = element("dialog", { class: "palette", "aria-label": title }, ...parts);
  host.append(dialog);

  field.addEventListener("input", fill);
  for (const part of [field, list]) part.addEventListener("keydown", handleKey);
  dialog.addEventListener("click", (/** @type {Event} */ event) => event.target === dialog && dialog.close());

  function startDrawing() {
    dialog.close();
    onDraw?.();
  }

  function fill() {
    const matches = search(
      allOptions.map((option) => option.entry),
      field.value,
    );
    const options = matches.map(
      (entry) => /** @type {Option} */ (allOptions.find((option) => option.entry === entry)),
    );
    rows = options.map(createRow);
    list.replaceChildren(...(field.value.trim() ? rows : groupRows(options, rows)));
    setText(
      emptyText,
      rows.length ? "" : `Nothing here is called “${field.value}” or has it in its formula.`,
    );
    mark(0);
  }

  /** Create the list row of an op or rule. @param {Option} option */
  function createRow({ entry, doubt, picture, barred }) {
    const choose = () => {
      dialog.close();
      onChoose(entry.key);
    };
    const words = element(
      "span",
      { class: "words" },
      element("b", {}, entry.label),
      element("code", {}, entry.formula ?? "torch's own"),
      element("small", {}, entry.purpose),
      ...[barred, doubt].filter(Boolean).map((why) => element("small", { class: "doubt" }, why)),
    );
    const how = barred ? { "aria-disabled": "true" } : { onclick: choose };
    return element(
      "div",
      { role: "option", id: createId(), "aria-selected": "false", ...how },
      words,
      picture(),
    );
  }

  /**
   * Highlight a row of the list, or the next one in a direction that can be chosen.
   * @param {number} start @param {number} [way]
   */
  function mark(start, way = 1) {
    const order = rows.map((_, count) => (start + way * count + 2 * rows.length) % rows.length);
    const place = order.find((at) => !rows[at].ariaDisabled) ?? start;
    rows.forEach((one, at) => setAttribute(one, "aria-selected", String(at === place)));
    active = place;
    setAttribute(field, "aria-activedescendant", rows[place]?.id);
    rows[place]?.scrollIntoView({ block: "nearest" });
  }

  /** Handle the arrow keys, Enter and Escape in the dialog. @param {KeyboardEvent} event */
  function handleKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && rows.length) mark(active + step, step);
    else if (event.key === "Enter") rows[active]?.click();
    else if (event.key === "Escape") dialog.close();
    else return;
    event.preventDefault();
  }

  return {
    /** Open the dialog with the given options. @param {Option[]} options */
    open(options) {
      allOptions = options;
      field.value = "";
      dialog.showModal();
      fill();
      field.focus();
    },
    destroy: () => dialog.remove(),
  };
}

/** Group the rows of the list under headings. @param {Option[]} options @param {HTMLElement[]} rows */
function groupRows(options, rows) {
  const groups = [...new Set(options.map((option) => option.group))];
  return groups.map((group) => {
    const name = element("div", { class: "group-name", "aria-hidden": "true" }, group);
    const inside = rows.filter((_, place) => options[place].group === group);
    return element("div", { role: "group", "aria-label": group }, name, ...inside);
  });
}
