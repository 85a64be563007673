// Selection of the op's input data for a learning parameter: a list, with a dialog for pasted numbers.

import { selectKind, getData, listKinds, savePasted, getPastedText } from "../../choice/data.js";
import { element, createId, setText } from "../../elements/dom.js";

/** @import { Kind } from "../../choice/data.js" */

const HINT =
  "Numbers one after another, from a table, a list or a column. They stay in this tab and in no link.";

/** Create the list of data and the dialog for pasted numbers. @param {() => void} onChange called after a choice */
export function createNumbers(onChange) {
  const list = element("select", { "aria-label": "Numbers beneath the curves", onchange: handleSelect });
  const id = createId();
  const box = element("textarea", { id, rows: 6, spellcheck: "false", placeholder: "-0.5 0.2 1.75" });
  const message = element("p", { class: "refusal", role: "alert" });
  const dialog = element(
    "dialog",
    { class: "numbers", "aria-label": "Your own numbers" },
    element("label", { for: id }, "Your own numbers"),
    box,
    element("p", {}, HINT),
    message,
    element(
      "div",
      { class: "acts flex-wrap" },
      element("button", { onclick: saveNumbers }, "Use these"),
      element("button", { onclick: () => dialog.close() }, "Cancel"),
    ),
  );
  const edit = element("button", { onclick: open }, "Edit");
  dialog.addEventListener("close", show);

  function handleSelect() {
    if (list.value === "pasted") return open();
    selectKind(/** @type {Kind} */ (list.value));
    return onChange();
  }

  function open() {
    box.value = getPastedText();
    setText(message, "");
    dialog.showModal();
    box.focus();
  }

  function saveNumbers() {
    const error = savePasted(box.value);
    setText(message, error);
    if (error) return;
    dialog.close();
    onChange();
  }

  function show() {
    const { kind } = getData();
    list.replaceChildren(...listKinds().map(([value, name]) => element("option", { value }, name)));
    list.value = kind;
    edit.hidden = kind !== "pasted";
  }

  return { element: element("span", { class: "numbers-of flex-row" }, list, edit, dialog), show };
}
