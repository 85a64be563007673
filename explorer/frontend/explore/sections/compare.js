// The section Compare: a table of every backward rule that suits the op, which the user can sort and filter.

import { drawThumbnail } from "../../chart/scene/thumbnail.js";
import { getRuleArguments } from "../../asking/ask.js";
import { getEntries, getSamplingSettings, replaceRule } from "../../choice/choice.js";
import { getData } from "../../choice/data.js";
import { getCatalogue, explainStochasticRefusal, isSuitable } from "../../choice/entries.js";
import { findStochastic } from "../../formula/draws.js";
import { createChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { joinList } from "../../formula/phrases.js";
import {
  formatCell,
  COLUMNS,
  makeComparisonCsv,
  filterRows,
  parseRow,
  sortRows,
} from "../../measures/comparison.js";
import { computeShare } from "../../measures/share.js";
import { createControls } from "../stage/controls.js";
import { createNumbers } from "../stage/numbers.js";
import { keepOneRule } from "../../asking/some-rules.js";
import { canAddCatalogueRule, addNeighbour } from "./choice-changes.js";
import { createDownload } from "./download.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Rule } from "../../formula/entry.js" */
/** @import { Measured, Order, Row } from "../../measures/comparison.js" */

const SECTION_NAME = "Compare";
const REST_MS = 300; // Python is not asked if the settings change again sooner

/**
 * Create the section Compare, a table of all backward rules that suit the op.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").CachedAsk}} options
 */
export function createCompare(host, { store, ask }) {
  const lead = element("p", { role: "status" });
  const field = element("input", {
    type: "search",
    placeholder: "Filter rules",
    "aria-label": "Filter rules",
  });
  const download = createDownload();
  const numbers = createNumbers(() => store.change({ ...store.current }));
  const heads = COLUMNS.map(({ name, label, title }) => {
    const button = element("button", { title, onclick: () => sort(name) }, label);
    return { name, cell: element("th", { scope: "col", "data-column": name }, button) };
  });
  const body = element("tbody");
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...heads.map(({ cell }) => cell))),
    body,
  );
  const frame = element(
    "div",
    { class: "compared", tabindex: 0, role: "region", "aria-label": "Compare" },
    table,
  );
  const share = element("label", { class: "share-of" }, "Share on ", numbers.element);
  const controls = createControls(getCatalogue().layers.lens.controls, store);
  const noise = element("div", { class: "compare-noise" });
  const head = [field, share, noise, download.element];
  host.append(element("div", { class: "compare-head" }, ...head), lead, frame);
  const rowList = createChildren(body, createRow, (/** @type {Row} */ { key }) => key);
  let order = /** @type {Order} */ ({ by: "", down: false });
  let timer = 0;
  let latest = 0;
  field.addEventListener("input", draw);

  /**
   * Sort the table by a column: descending, then ascending, then as in the catalogue. Text columns begin with the
   * ascending order.
   * @param {Order["by"]} by
   */
  function sort(by) {
    const isText = by === "rule" || by === "source";
    const first = order.by !== by;
    order = first
      ? { by, down: !isText }
      : order.down === !isText
        ? { by, down: isText }
        : { by: "", down: false };
    draw();
  }

  /**
   * Show the table, and request its measurements once the user pauses.
   * @param {Choice} _choice @param {{phase: string}} [change]
   */
  function show(_choice, change) {
    host.hidden = store.current.section !== "compare";
    const isOwn = !host.hidden && store.current.layer !== "lens"; // the curves over the chart have the same controls
    if (isOwn !== noise.hasChildNodes()) noise.replaceChildren(...(isOwn ? controls.elements : []));
    if (!host.hidden) controls.show(store.current);
    if (change?.phase === "moving") return;
    latest += 1;
    clearTimeout(timer);
    if (host.hidden) return;
    const refusal = explainStochasticRefusal(SECTION_NAME, getEntries(store.current).op);
    for (const part of [...head, frame]) part.hidden = Boolean(refusal);
    if (refusal) return setText(lead, refusal);
    numbers.show();
    draw();
    timer = setTimeout(() => measure(latest), REST_MS);
  }

  /**
   * Request the distances of all rules, then the measurements of each rule in turn. Rules that pass the filter come
   * first.
   * @param {number} id
   */
  async function measure(id) {
    const distances = getDistanceArguments(store.current);
    if (!ask.known("distances", distances)) await ask("distances", distances);
    if (id !== latest) return;
    draw();
    const { op } = getEntries(store.current);
    const all = listSuitableRules(store.current);
    const first = new Set(filterRows(getTableRows(store.current), field.value).map(({ key }) => key));
    for (const rule of [...all].sort(
      (one, other) => Number(first.has(other.key)) - Number(first.has(one.key)),
    )) {
      if (id !== latest || store.current.op !== op.key) return;
      const args = getRowArguments(store.current, rule);
      if (ask.known("row", args)) continue;
      const { again, message } = await ask("row", args);
      if (id !== latest) return;
      draw(again && message);
      if (again) return;
    }
  }

  /**
   * Return the table's rows with all measurements that are available so far.
   * @param {Choice} choice @returns {Row[]}
   */
  function getTableRows(choice) {
    const { op } = getEntries(choice);
    const data = getData();
    const distances = getDistances(choice);
    return listSuitableRules(choice).map((rule) => {
      const { key, label, source } = rule;
      const rowAnswer = ask.known("row", getRowArguments(choice, rule));
      const passedShare = computeShare(op, rule, data, choice.parameters, choice.g);
      return {
        ...{ key, label, source: source ?? "", share: passedShare, lens: distances[key] ?? null },
        measured: rowAnswer?.row && !rowAnswer.note ? parseRow(rowAnswer.row) : null,
        message: rowAnswer?.message ?? rowAnswer?.note ?? "",
      };
    });
  }

  /**
   * Return the distances of all rules for these settings, as far as they are available.
   * @param {Choice} choice @returns {Record<string, number>}
   */
  function getDistances(choice) {
    const answer = ask.known("distances", getDistanceArguments(choice));
    return answer && !answer.note && answer.distances ? answer.distances : {};
  }

  /** Draw the comparison table. @param {string|Event|false} [failure] why there is no answer */
  function draw(failure) {
    if (host.hidden) return;
    const rows = getTableRows(store.current);
    const visible = sortRows(filterRows(rows, field.value), order);
    rowList.show(visible);
    for (const { name, cell } of heads)
      setAttribute(cell, "aria-sort", order.by === name ? (order.down ? "descending" : "ascending") : "none");
    setText(lead, formatLead(rows, visible.length, typeof failure === "string" ? failure : ""));
    download.offer("Download CSV", "rules.csv", "text/csv", () => makeComparisonCsv(visible));
  }

  /** Create the table row of a rule. @param {Row} first */
  function createRow({ key }) {
    const picture = element("span");
    const add = element("button", {
      class: "join",
      onclick: () => store.change(addNeighbour(store.current, { rule: key, parameters: {} })),
    });
    const cells = COLUMNS.slice(1).map(({ name }) => element("td", { "data-column": name }));
    const row = element("tr", { "data-rule": key }, element("th", { scope: "row" }, picture, add), ...cells);
    let pictureKey = "";
    return {
      element: row,
      /** Show a rule's measurements in its table row. @param {Row} shown */
      show(shown) {
        const choice = store.current;
        const { op } = getEntries(choice);
        const rule = getCatalogue().rules[key];
        const nextKey = JSON.stringify([op.key, getSamplingSettings(choice)]);
        if (nextKey !== pictureKey)
          picture.replaceChildren(drawThumbnail({ op, rule }, getSamplingSettings(choice)));
        pictureKey = nextKey;
        setText(add, shown.label);
        add.disabled = !canAddCatalogueRule(choice, key);
        const isChosen = choice.rules.some((one) => one.key === key);
        setAttribute(add, "aria-label", isChosen ? `${shown.label}, on the chart` : `Add ${shown.label}`);
        setAttribute(row, "class", isChosen ? "chosen" : null);
        cells.forEach((cell, index) => {
          const { name } = COLUMNS[index + 1];
          setText(cell, formatCell(shown, name));
          setAttribute(cell, "title", name === "source" ? shown.source : shown.message || null);
        });
      },
    };
  }

  const stop = store.subscribeNow(show);
  return {
    destroy() {
      latest += 1;
      clearTimeout(timer);
      stop();
    },
  };
}

/**
 * Return the backward rules that can be compared for an op. There are none for a stochastic op.
 * @param {Choice} choice
 */
export function listSuitableRules(choice) {
  const { op } = getEntries(choice);
  if (findStochastic([op])) return [];
  return Object.values(getCatalogue().rules).filter(
    (rule) => isSuitable(rule, op) && !findStochastic([rule]),
  );
}

/** Return the arguments for requesting each rule's distance from the op under noise. @param {Choice} choice */
export function getDistanceArguments({ op, parameters, noise, noise_width: width }) {
  return { op, parameters, noise, width };
}

/**
 * Return the arguments for requesting the measurements of one rule.
 * @param {Choice} choice @param {{key: string}} rule
 */
export function getRowArguments(choice, { key }) {
  const chosenRule = choice.rules.find((one) => one.key === key);
  if (chosenRule) return getRuleArguments(choice, chosenRule.slot);
  return getRuleArguments(replaceRule(keepOneRule(choice, choice.rules[0].slot), 0, key), 0);
}

/** Format the text above the comparison table. @param {Row[]} rows @param {number} visible @param {string} failure */
function formatLead(rows, visible, failure) {
  const waiting = rows.filter(({ measured, message }) => !measured && !message).length;
  const all = `${rows.length} rules suit this op${visible < rows.length ? `, ${visible} of them shown` : ""}.`;
  const note = rows.find(({ message }) => message)?.message ?? "";
  const state = failure ? failure : waiting ? `Measuring ${waiting} of them …` : note;
  return `${all} At g = 1. ${state}`.trim();
}
