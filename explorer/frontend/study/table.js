// The heat map of a study: a table whose cells open as training runs.

import { element, setAttribute, setText } from "../elements/dom.js";

/** @import { HeatCell, Heat, Row } from "./heat.js" */

const DARKEST = 55; // maximum percentage of colour behind a cell's text, for legibility

/** Create the heat map of a study, with scores by rule and learning rate. @param {HTMLElement} host */
export function createHeat(host) {
  const title = element("h2", {});
  const head = element("tr", {});
  const body = element("tbody", {});
  const table = element("table", {}, element("thead", {}, head), body);
  const legend = element("p", { class: "next text-small" });
  host.append(title, element("div", { class: "grid" }, table), legend);
  let shape = "";
  let cells = /** @type {HTMLAnchorElement[][]} */ ([]);

  /** @param {Heat} heat */
  function rebuild({ rates, rows, busy }) {
    const names = [...rates, ...(busy ? ["share"] : [])].map((name) => element("th", { scope: "col" }, name));
    head.replaceChildren(element("th", { scope: "col" }, "rule, lr:"), ...names);
    cells = rows.map(({ cells: drawn }) =>
      drawn.map(() => element("a", { target: "_blank", rel: "noopener" })),
    );
    body.replaceChildren(...rows.map((row, at) => createRow(row, cells[at], busy)));
  }

  return {
    /** @param {Heat} heat */
    show(heat) {
      setText(title, heat.heading);
      setText(legend, heat.legend);
      const next = JSON.stringify([heat.rates, heat.busy, heat.rows.map(({ line, share }) => [line, share])]);
      if (next !== shape) rebuild(heat);
      shape = next;
      heat.rows.forEach(({ cells: drawn }, row) => drawn.forEach((each, at) => fill(cells[row][at], each)));
    },
  };
}

/** @param {Row} row @param {HTMLAnchorElement[]} links @param {boolean} busy whether to show the share */
function createRow({ line, share }, links, busy) {
  const heading = element("th", { scope: "row", title: line.label }, element("span", {}, line.label));
  const row = element("tr", { class: line.control ? "control" : "" }, heading);
  row.style.setProperty("--colour", line.colour);
  row.append(...links.map((link) => element("td", {}, link)));
  if (busy) row.append(element("td", { class: "share" }, share));
  return row;
}

/** @param {HTMLAnchorElement} link @param {HeatCell} drawn */
function fill(link, { text, mark, words, query, shade, diverged, chosen }) {
  const title = `${words}. Open on Train`;
  if (link.dataset.text !== text + mark) {
    link.replaceChildren(text, ...(mark ? [element("small", {}, mark)] : []));
    link.dataset.text = text + mark;
  }
  setAttribute(link, "href", `train?${query}`);
  setAttribute(link, "title", title);
  setAttribute(link, "aria-label", title);
  setAttribute(link, "data-state", diverged ? "diverged" : shade === null ? "empty" : "scored");
  setAttribute(link, "data-chosen", chosen);
  link.style.setProperty("--shade", `${Math.round((shade ?? 0) * DARKEST)}%`);
}
