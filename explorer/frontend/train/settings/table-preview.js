// The preview of the user's table, which shows its first rows and lets the user choose columns.

import { element, createId, setAttribute, setText } from "../../elements/dom.js";

/** @import { Preview, Row } from "../state/own-table.js" */

/**
 * Create the preview of the user's table.
 * @param {{onTarget: (name: string) => void, onOut: (name: string, out: boolean) => void, onComplete: () => void}} on
 *   ``onComplete`` removes the rows with gaps
 */
export function createPreview({ onTarget, onOut, onComplete }) {
  const group = createId();
  const summary = element("p", { class: "summary" });
  const wrong = element("p", { class: "refusal", role: "status" });
  const complete = element("button", { onclick: onComplete });
  const columns = element("tbody", {});
  const titles = ["Learn", "Column", "Holds", "Leave out"];
  const first = element("table", { class: "first-rows" });
  const tables = element(
    "div",
    { class: "scrolled", tabindex: "0", role: "group", "aria-label": "The table as it was read" },
    element("table", { class: "choices" }, element("thead", {}, createTableRow("th", titles)), columns),
    first,
  );
  const container = element("div", { class: "table-read", hidden: true }, summary, wrong, complete, tables);
  let displayed = "";

  /** @param {Row} row */
  function rowOf({ name, holds, learnt, out, remark, wrong: isWrong }) {
    const learn = element("input", {
      type: "radio",
      name: group,
      "aria-label": `Learn ${name}`,
      onchange: () => onTarget(name),
    });
    const leave = element("input", {
      type: "checkbox",
      "aria-label": `Leave out ${name}`,
      disabled: learnt,
      onchange: () => onOut(name, leave.checked),
    });
    learn.checked = learnt;
    leave.checked = out;
    const note = remark ? [element("small", { class: isWrong && "wrong" }, remark)] : [];
    return element(
      "tr",
      { class: out && "left-out" },
      element("td", {}, learn),
      element("th", { scope: "row" }, name),
      element("td", {}, holds, ...note),
      element("td", {}, leave),
    );
  }

  /** @param {Preview} preview */
  function paint({ summary: text, rows, names, head, refused, gaps }) {
    const pressed = container.contains(document.activeElement) && document.activeElement;
    setText(summary, text);
    setText(wrong, refused);
    setText(
      complete,
      gaps === 1 ? "Leave out this row" : `Leave out these ${gaps.toLocaleString("en-US")} rows`,
    );
    setAttribute(complete, "hidden", !gaps);
    setAttribute(tables, "hidden", rows.length === 0);
    columns.replaceChildren(...rows.map(rowOf));
    first.replaceChildren(
      element("caption", {}, head.length === 1 ? "The only row" : `The first ${head.length} rows`),
      element("thead", {}, createTableRow("th", names)),
      element("tbody", {}, ...head.map((texts) => createTableRow("td", texts))),
    );
    const name = pressed && pressed.getAttribute("aria-label");
    if (name) [...container.querySelectorAll("input")].find((each) => each.ariaLabel === name)?.focus();
  }

  return {
    element: container,
    /** @param {Preview|null} preview */
    show(preview) {
      setAttribute(container, "hidden", !preview);
      const text = JSON.stringify(preview);
      if (preview && text !== displayed) paint(preview);
      displayed = text;
    },
  };
}

/** Create a table row with one cell per text. @param {"td"|"th"} tag @param {string[]} texts */
function createTableRow(tag, texts) {
  return element("tr", {}, ...texts.map((text) => element(tag, tag === "th" ? { scope: "col" } : {}, text)));
}
