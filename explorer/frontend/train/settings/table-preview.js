// The preview of the user's table: its first rows, and a choice of columns.

import { element, createId } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";

/** @import { Preview, Row } from "../state/own-table.js" */
const SCROLLED = {
  class: "scrolled",
  tabindex: "0",
  role: "group",
  "aria-label": "The table as it was read",
};
const TITLES = ["Learn", "Column", "Holds", "Leave out"];

/**
 * Create the preview.
 * @param {{onTarget: (name: string) => void, onOut: (name: string, out: boolean) => void, onComplete: () => void}} on
 *   ``onTarget``: called with the name of the column to predict; ``onOut``: leaves a column out, or includes it again;
 *   ``onComplete``: removes rows that cannot be used
 */
export function createPreview({ onTarget, onOut, onComplete }) {
  const group = createId();
  const container = element("div", { class: "table-read", hidden: true });

  /** @param {Row} row */
  function makeColumnRow({ name, holds, learnt, out, remark, wrong }) {
    const learn = { type: "radio", name: group, "aria-label": `Learn ${name}`, checked: learnt };
    const leave = { type: "checkbox", "aria-label": `Leave out ${name}`, disabled: learnt, checked: out };
    return h(
      "tr",
      { key: name, class: out && "left-out" },
      h("td", {}, h("input", { ...learn, onchange: () => onTarget(name) })),
      h("th", { scope: "row" }, name),
      h("td", {}, holds, remark && h("small", { class: wrong && "wrong" }, remark)),
      h("td", {}, h("input", { ...leave, onchange: () => onOut(name, !out) })),
    );
  }

  return {
    element: container,
    /** @param {Preview|null} preview null hides it */
    show(preview) {
      container.hidden = !preview;
      if (!preview) return;
      const { summary, rows, names, head, refused, unusable, worst } = preview;
      const rowsLost = unusable === 1 ? "this row" : `these ${unusable.toLocaleString("en-US")} rows`;
      const drop = worst ? () => onOut(worst, true) : onComplete;
      render(
        container,
        h("p", { class: "summary" }, summary),
        h("p", { class: "refusal", role: "status" }, refused),
        unusable > 0 && h("button", { onclick: drop }, `Leave out ${worst || rowsLost}`),
        h(
          "div",
          { ...SCROLLED, hidden: rows.length === 0 },
          h(
            "table",
            { class: "choices" },
            h("thead", {}, makeTableRow("th", TITLES)),
            h("tbody", {}, rows.map(makeColumnRow)),
          ),
          h(
            "table",
            { class: "first-rows" },
            h("caption", {}, head.length === 1 ? "The only row" : `The first ${head.length} rows`),
            h("thead", {}, makeTableRow("th", names)),
            h("tbody", {}, head.map(makeBodyRow)),
          ),
        ),
      );
    },
  };
}

const makeBodyRow = (/** @type {string[]} */ texts) => makeTableRow("td", texts);

/** @param {"td"|"th"} tag @param {string[]} texts */
function makeTableRow(tag, texts) {
  const attributes = tag === "th" ? { scope: "col" } : {};
  const cells = texts.map((text) => h(tag, attributes, text));
  return h("tr", {}, cells);
}
