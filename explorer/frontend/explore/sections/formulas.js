// The section Formula: op and rules in MathML as Python writes them, and the curves at a few x.

import { getEntries, isStochastic } from "../../choice/choice.js";
import { ruleArguments } from "../../asking/ask.js";
import { getCatalogue } from "../../choice/entries.js";
import { element, setText } from "../../elements/dom.js";
import { mathElement } from "../../elements/math.js";
import { formatFloat, formatFloat32 } from "../../formula/python.js";
import { readingIndices } from "./readings.js";
import { createSortableHead } from "./sortable.js";
import { cellText } from "./table.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Displayed } from "../stage/stage.js" */

const LEAD = "The curves of the chart at even steps and around each kink.";

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").CachedAsk}} options
 */
export function createFormulas(host, { store, ask }) {
  const boxes = element("div");
  const lead = element("p");
  const head = createSortableHead(read);
  const rows = element("tbody");
  const table = element("table", {}, element("thead", {}, head.element), rows);
  const frame = element(
    "div",
    { class: "rows", tabindex: 0, role: "region", "aria-label": "Readings" },
    table,
  );
  const rest = element("p");
  const body = element("div", { class: "formula-section" }, boxes, lead, frame, rest);
  let turn = 0;
  let current = /** @type {Displayed|null} */ (null);
  host.append(body);

  /** @param {Choice} choice */
  async function changed(choice) {
    const mine = ++turn;
    body.hidden = choice.section !== "formula";
    if (body.hidden) return;
    read();
    const { learns } = choice;
    const rules = choice.rules.map(({ slot }) => ({ ...ruleArguments(choice, slot), learns }));
    const first = { ...ruleArguments(choice, choice.rules[0].slot), rule: "", learns: "" };
    const onWait = (/** @type {string} */ words) => mine === turn && words && say(words);
    const answers = await Promise.all([first, ...rules].map((args) => ask("formulas", args, { onWait })));
    if (mine !== turn) return;
    boxes.replaceChildren(...answers.map(box));
    for (const line of boxes.querySelectorAll(".math"))
      if (line.scrollWidth > line.clientWidth) line.tabIndex = 0;
  }

  /** @param {string} words */
  function say(words) {
    if (!boxes.querySelector(".box")) boxes.replaceChildren(element("p", { role: "status" }, words));
  }

  function read() {
    if (!current || body.hidden) return;
    const { curves } = current;
    const { range } = store.current;
    const { rules } = getEntries(store.current);
    const indices = readingIndices(curves, range);
    const most = getCatalogue().limits.readings;
    const text = curves.x instanceof Float32Array ? formatFloat32 : formatFloat;
    const columns = [curves.x, curves.y, ...rules.map(({ key }) => curves.gradients[key])];
    const row = (/** @type {number} */ at) =>
      columns.map((values, column) => (column ? cellText(values?.[at] ?? NaN) : text(curves.x[at])));
    setText(lead, isStochastic(store.current) ? `${getCatalogue().drawn.readings} ${LEAD}` : LEAD);
    head.show(["x", "y", ...rules.map(({ label }) => label)]);
    const visible = indices.slice(0, most);
    const order = head.order(visible.length, (at, column) => columns[column]?.[visible[at]] ?? NaN);
    rows.replaceChildren(...order.map((at) => line(row(visible[at]))));
    const more = `The first ${most} of ${indices.length} rows: narrow the range to see the others.`;
    setText(rest, indices.length > most ? more : "");
  }

  const stop = store.subscribeNow((choice, { phase }) => void (phase === "settled" && changed(choice)));
  return {
    /** @param {Displayed} now the curves of the chart at rest */
    show(now) {
      current = now;
      read();
    },
    destroy: stop,
  };
}

/** @param {import("../../asking/ask.js").Answer} answer */
function box({ title, lines, message }) {
  if (message !== undefined) return element("p", { role: "status" }, message);
  const parts = lines.map((/** @type {*} */ part) =>
    typeof part === "string" ? element("p", {}, part) : element("div", { class: "math" }, mathElement(part)),
  );
  return element("section", { class: "box" }, element("h3", {}, title), ...parts);
}

/** @param {string[]} texts */
function line(texts) {
  return element("tr", {}, ...texts.map((text) => element("td", {}, text)));
}
