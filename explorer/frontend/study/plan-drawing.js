// The drawing of a planned study: a table with a ring for each run.

import { updateChildren } from "../elements/children.js";
import { element, setAttribute, setText } from "../elements/dom.js";

/** @import { Plan } from "./plan.js" */

/** Create the table of a planned study. @param {HTMLElement} host */
export function createPlan(host) {
  const heading = element("h2", {});
  const caption = element("p", {});
  const titles = element("tr", {});
  const rows = element("tbody", {});
  const remainder = element("p", {});
  const table = element("table", {}, element("thead", {}, titles), rows);
  host.append(heading, caption, table, remainder);

  return {
    /** Update the table. Null hides it. @param {Plan|null} plan */
    show(plan) {
      setAttribute(host, "hidden", !plan);
      if (!plan) return;
      setText(heading, plan.heading);
      setText(caption, plan.caption);
      setText(remainder, plan.others);
      updateChildren(
        titles,
        ["lr", ...plan.rates, "judged"],
        () => element("th", { scope: "col" }),
        (cell, text) => setText(cell, text),
      );
      updateChildren(
        rows,
        plan.rows,
        () => element("tr", {}),
        (row, { label, colour, control }) => {
          row.style.setProperty("--colour", colour);
          row.classList.toggle("control", control);
          updateChildren(row, [label, ...plan.rates, "judged"], createCell, (cell, text, at) => {
            if (at === 0) setText(cell, text);
            else drawRings(cell, plan.rings);
          });
        },
      );
    },
  };
}

/**
 * Create a table cell: a row heading in column 0, otherwise a host for rings.
 * @param {number} at index of the column
 */
function createCell(at) {
  if (at === 0) return element("th", { scope: "row" });
  return element("td", {}, element("span", { class: "rings" }));
}

/** @param {HTMLElement} cell @param {number} rings */
function drawRings(cell, rings) {
  updateChildren(
    /** @type {Element} */ (cell.firstElementChild),
    Array.from({ length: rings }),
    () => element("i", {}),
    () => undefined,
  );
}
