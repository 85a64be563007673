// The section Compare: a table of all backward rules that suit the op, which can be sorted and filtered.

import { drawThumbnail } from "../../chart/scene/thumbnail.js";
import { getRuleArguments } from "../../asking/ask.js";
import { getEntries, getSamplingSettings, replaceRule } from "../../choice/choice.js";
import { getData } from "../../choice/data.js";
import { getCatalogue, explainStochasticRefusal, isSuitable } from "../../choice/entries.js";
import { findStochastic } from "../../formula/draws.js";
import { element, setText } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import * as comparison from "../../measures/comparison.js";
import { computeShare } from "../../measures/share.js";
import { createControls } from "../stage/controls.js";
import { createNumbers } from "../stage/numbers.js";
import { keepOneRule } from "../../asking/some-rules.js";
import { canAddCatalogueRule, addNeighbour } from "./choice-changes.js";
import { createDownload } from "./download.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Order, Row } from "../../measures/comparison.js" */

const SECTION_NAME = "Compare";
const REST_MS = 300; // pause after a change before Python is asked

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
  const frame = element("div", {
    class: "compared text-small",
    tabindex: 0,
    role: "region",
    "aria-label": "Compare",
  });
  const share = element("label", { class: "flex-row" }, "Share on", numbers.element);
  const controls = createControls(getCatalogue().layers.lens.controls, store);
  const noise = element("div", { class: "compare-noise" });
  const head = [field, share, noise, download.element];
  host.append(element("div", { class: "compare-head flex-row" }, ...head), lead, frame);
  // thumbnails for one op and range, by rule key
  let pictures = { key: "", byRule: /** @type {Record<string, Element>} */ ({}) };
  let order = /** @type {Order} */ ({ by: "", down: false });
  let timer = 0;
  let latest = 0;
  field.addEventListener("input", draw);

  /**
   * Sort the table by a column: first in descending order (text: ascending), then reversed, then as in the catalogue.
   * @param {Order["by"]} by the pressed column
   */
  function sort(by) {
    const isText = by === "rule" || by === "source";
    if (order.by !== by) order = { by, down: !isText };
    else order = order.down === isText ? { by: "", down: false } : { by, down: isText };
    draw();
  }

  /**
   * Show the table, and have Python measure the rules once the user pauses.
   * @param {Choice} _choice @param {{phase: string}} [change]
   */
  function show(_choice, change) {
    host.hidden = store.current.section !== "compare";
    // not twice: the chart's curves under noise show the same controls
    const isOwn = !host.hidden && store.current.layer !== "lens";
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
   * Ask Python for the distances of all rules from the op under noise, then for the measurements of each rule. Rules
   * that match the filter come first.
   * @param {number} id the number of this request; a newer one ends it
   */
  async function measure(id) {
    const distances = getDistanceArguments(store.current);
    if (!ask.known("distances", distances)) await ask("distances", distances);
    if (id !== latest) return;
    draw();
    const { op } = getEntries(store.current);
    const all = listSuitableRules(store.current);
    const first = new Set(
      comparison.filterRows(getTableRows(store.current), field.value).map(({ key }) => key),
    );
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

  /** @param {Choice} choice @returns {Row[]} */
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
        measured: rowAnswer?.row && !rowAnswer.note ? comparison.parseRow(rowAnswer.row) : null,
        message: rowAnswer?.message ?? rowAnswer?.note ?? "",
      };
    });
  }

  /** @param {Choice} choice @returns {Record<string, number>} */
  function getDistances(choice) {
    const answer = ask.known("distances", getDistanceArguments(choice));
    return answer && !answer.note && answer.distances ? answer.distances : {};
  }

  /** @param {string|Event|false} [failure] why Python gave no answer */
  function draw(failure) {
    if (host.hidden) return;
    const rows = getTableRows(store.current);
    const visible = comparison.sortRows(comparison.filterRows(rows, field.value), order);
    const heads = comparison.COLUMNS.map(({ name, label, title }) => {
      const sorted = order.by === name ? (order.down ? "descending" : "ascending") : "none";
      const button = h("button", { class: "quiet", title, onclick: () => sort(name) }, label);
      return h("th", { scope: "col", "data-column": name, "aria-sort": sorted }, button);
    });
    const body = h("tbody", {}, visible.map(makeTableRow));
    render(frame, h("table", {}, h("thead", {}, h("tr", {}, heads)), body));
    setText(lead, formatLead(rows, visible.length, typeof failure === "string" ? failure : ""));
    download.offer("Download CSV", "rules.csv", "text/csv", () => comparison.makeComparisonCsv(visible));
  }

  /** @param {Row} row */
  function makeTableRow(row) {
    const { key, label, source, message } = row;
    const choice = store.current;
    const isChosen = choice.rules.some((one) => one.key === key);
    const state = {
      ...{ class: "join quiet", "aria-label": isChosen ? `${label}, on the chart` : `Add ${label}` },
      disabled: !canAddCatalogueRule(choice, key),
      onclick: () => store.change(addNeighbour(store.current, { rule: key, parameters: {} })),
    };
    const cells = comparison.COLUMNS.slice(1).map(({ name }) => {
      const title = name === "source" ? source : message || null;
      return h("td", { "data-column": name, title }, comparison.formatCell(row, name));
    });
    return h(
      "tr",
      { key, "data-rule": key, class: isChosen && "chosen" },
      h("th", { scope: "row" }, h("span", {}, getPicture(choice, key)), h("button", state, label)),
      cells,
    );
  }

  /**
   * Return the thumbnail of a rule's gradient, which is drawn only once.
   * @param {Choice} choice @param {string} key the rule's key
   */
  function getPicture(choice, key) {
    const { op } = getEntries(choice);
    const settings = getSamplingSettings(choice);
    const picturesKey = JSON.stringify([op.key, settings]);
    if (picturesKey !== pictures.key) pictures = { key: picturesKey, byRule: {} };
    pictures.byRule[key] ??= drawThumbnail({ op, rules: [getCatalogue().rules[key]] }, settings);
    return pictures.byRule[key];
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
 * Return the backward rules that suit the op and are not stochastic. Returns [] for a stochastic op.
 * @param {Choice} choice
 */
export function listSuitableRules(choice) {
  const { op } = getEntries(choice);
  if (findStochastic([op])) return [];
  return Object.values(getCatalogue().rules).filter(
    (rule) => isSuitable(rule, op) && !findStochastic([rule]),
  );
}

/** Return the arguments of the question for all rules' distances from the op under noise. @param {Choice} choice */
export function getDistanceArguments({ op, parameters, noise, noise_width: width }) {
  return { op, parameters, noise, width };
}

/**
 * Return the arguments of the question for the measurements of one rule.
 * @param {Choice} choice @param {{key: string}} rule
 */
export function getRowArguments(choice, { key }) {
  const chosenRule = choice.rules.find((one) => one.key === key);
  if (chosenRule) return getRuleArguments(choice, chosenRule.slot);
  return getRuleArguments(replaceRule(keepOneRule(choice, choice.rules[0].slot), 0, key), 0);
}

/**
 * @param {Row[]} rows @param {number} visible number of rows that match the filter
 * @param {string} failure why Python gave no answer, or ""
 */
function formatLead(rows, visible, failure) {
  const waiting = rows.filter(({ measured, message }) => !measured && !message).length;
  const all = `${rows.length} rules suit this op${visible < rows.length ? `, ${visible} of them shown` : ""}.`;
  const note = rows.find(({ message }) => message)?.message ?? "";
  const state = failure ? failure : waiting ? `Measuring ${waiting} of them …` : note;
  return `${all} At g = 1. ${state}`.trim();
}
