// The section Formula: formulas of the op and its rules, and a table of the curves' values at a few x.

import { getEntries, isStochastic } from "../../choice/choice.js";
import { getRuleArguments } from "../../asking/ask.js";
import { getCatalogue } from "../../choice/entries.js";
import { element, setText } from "../../elements/dom.js";
import { formatExact, writeMinus } from "../../formula/numbers.js";
import { findReadingIndices } from "./readings.js";
import { createSortableHead } from "./sortable.js";
import { formatCell } from "./table.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Displayed } from "../stage/stage.js" */

const LEAD = "The curves of the chart at even steps and around each kink.";

/**
 * Create the section Formula, with the formulas of the op and of its rules.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").CachedAsk}} options
 */
export function createFormulas(host, { store, ask }) {
  const boxes = element("div");
  const lead = element("p");
  const head = createSortableHead(drawTable);
  const rows = element("tbody");
  const table = element("table", {}, element("thead", {}, head.element), rows);
  const frame = element(
    "div",
    { class: "rows", tabindex: 0, role: "region", "aria-label": "Readings" },
    table,
  );
  const rest = element("p");
  const body = element("div", { class: "formula-section" }, boxes, lead, frame, rest);
  let latest = 0;
  let current = /** @type {Displayed|null} */ (null);
  host.append(body);

  /** @param {Choice} choice */
  async function handleChange(choice) {
    const id = ++latest;
    body.hidden = choice.section !== "formula";
    if (body.hidden) return;
    drawTable();
    const { learns } = choice;
    const rules = choice.rules.map(({ slot }) => ({ ...getRuleArguments(choice, slot), learns }));
    const first = { ...getRuleArguments(choice, choice.rules[0].slot), rule: "", learns: "" };
    const onWait = (/** @type {string} */ words) => id === latest && words && showStatus(words);
    const answers = await Promise.all([first, ...rules].map((args) => ask("formulas", args, { onWait })));
    if (id !== latest) return;
    boxes.replaceChildren(...answers.map(createBox));
    for (const line of boxes.querySelectorAll(".math"))
      if (line.scrollWidth > line.clientWidth) line.tabIndex = 0;
  }

  /** @param {string} words */
  function showStatus(words) {
    if (!boxes.querySelector(".box")) boxes.replaceChildren(element("p", { role: "status" }, words));
  }

  function drawTable() {
    if (!current || body.hidden) return;
    const { curves } = current;
    const { range } = store.current;
    const { rules } = getEntries(store.current);
    const indices = findReadingIndices(curves, range);
    const maxRows = getCatalogue().limits.readings;
    const columns = [curves.x, curves.y, ...rules.map(({ key }) => curves.gradients[key])];
    const formatRow = (/** @type {number} */ at) =>
      columns.map((values, column) =>
        column ? formatCell(values?.[at] ?? NaN) : writeMinus(formatExact(curves.x[at], curves.x)),
      );
    setText(lead, isStochastic(store.current) ? `${getCatalogue().drawn.readings} ${LEAD}` : LEAD);
    head.show(["x", "y", ...rules.map(({ label }) => label)]);
    const visible = indices.slice(0, maxRows);
    const order = head.order(visible.length, (at, column) => columns[column]?.[visible[at]] ?? NaN);
    rows.replaceChildren(
      ...order.map((at) =>
        element("tr", {}, ...formatRow(visible[at]).map((text) => element("td", {}, text))),
      ),
    );
    const moreText = `The first ${maxRows} of ${indices.length} rows: narrow the range to see the others.`;
    setText(rest, indices.length > maxRows ? moreText : "");
  }

  const stop = store.subscribeNow((choice, { phase }) => void (phase === "settled" && handleChange(choice)));
  return {
    /** @param {Displayed} now the curves at rest */
    show(now) {
      current = now;
      drawTable();
    },
    destroy: stop,
  };
}

/** @param {import("../../asking/ask.js").Answer} answer */
function createBox({ title, lines, message }) {
  if (message !== undefined) return element("p", { role: "status" }, message);
  const parts = lines.map((/** @type {*} */ part) => {
    if (!part.math) return element("p", {}, part);
    const { documentElement: math } = new DOMParser().parseFromString(part.math, "application/xml");
    return element("div", { class: "math" }, document.importNode(math, true));
  });
  return element("section", { class: "box" }, element("h3", {}, title), ...parts);
}
