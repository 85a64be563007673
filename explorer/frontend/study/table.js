// The heat map of a study: a table whose cells open as training runs.

import { h, render } from "../elements/render.js";

/** @import { HeatCell, Heat, Row } from "./heat.js" */

const DARKEST = 55; // maximum percentage of colour behind a cell's text, for legibility

/** Create the heat map of a study, with scores by rule and learning rate. @param {HTMLElement} host */
export function createHeat(host) {
  return {
    /** @param {Heat} heat */
    show({ heading, legend, rates, rows, busy }) {
      const names = ["rule, lr:", ...rates, ...(busy ? ["share"] : [])];
      const heads = names.map((name) => h("th", { scope: "col" }, name));
      const body = rows.map((row) => drawRow(row, busy));
      const table = h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body));
      render(
        host,
        h("h2", {}, heading),
        h("div", { class: "grid" }, table),
        h("p", { class: "next text-small" }, legend),
      );
    },
  };
}

/** @param {Row} row @param {boolean} busy whether to show the share */
function drawRow({ line: { key, label, colour, control }, share, cells }, busy) {
  return h(
    "tr",
    { key, class: control && "control", "--colour": colour },
    h("th", { scope: "row", title: label }, h("span", {}, label)),
    cells.map((cell) => h("td", {}, drawLink(cell))),
    busy && h("td", { class: "share" }, share),
  );
}

/** @param {HeatCell} cell */
function drawLink({ text, mark, words, query, shade, diverged, chosen }) {
  const title = `${words}. Open on Train`;
  const look = {
    "data-state": diverged ? "diverged" : shade === null ? "empty" : "scored",
    "data-chosen": chosen,
    "--shade": `${Math.round((shade ?? 0) * DARKEST)}%`,
  };
  const link = { href: `train?${query}`, target: "_blank", rel: "noopener", title, "aria-label": title };
  return h("a", { ...link, ...look }, text, mark && h("small", {}, mark));
}
