// The section Compare: every rule that suits the op, a row each, to sort, to filter and to add.

import { thumbnail } from "../../chart/scene/thumbnail.js";
import { ruleArguments } from "../../asking/ask.js";
import { getEntries, getSamplingSettings, replaceRule } from "../../choice/choice.js";
import { getData } from "../../choice/data.js";
import { getCatalogue, explainStochasticRefusal, isSuitable } from "../../choice/entries.js";
import { findStochastic } from "../../formula/draws.js";
import { keyed } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { joinList } from "../../formula/phrases.js";
import { cellOf, COLUMNS, comparisonCsv, filtered, measuredOf, ordered } from "../../measures/comparison.js";
import { shareOf } from "../../measures/share.js";
import { createControls } from "../stage/controls.js";
import { createNumbers } from "../stage/numbers.js";
import { keepOneRule } from "../../asking/some-rules.js";
import { canJoin, joined } from "./beside.js";
import { createDownload } from "./download.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Rule } from "../../formula/entry.js" */
/** @import { Measured, Order, Row } from "../../measures/comparison.js" */

const HERE = "Compare";
const REST_MS = 300; // a choice that is changed again sooner is not asked for

/**
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
  const drawn = keyed(body, createRow, (/** @type {Row} */ { key }) => key);
  let order = /** @type {Order} */ ({ by: "", down: false });
  let timer = 0;
  let turn = 0;
  field.addEventListener("input", draw);

  /** @param {Order["by"]} by down first, then up, then as in the catalogue */
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

  /** @param {Choice} _choice @param {{phase: string}} [change] */
  function show(_choice, change) {
    host.hidden = store.current.section !== "compare";
    const isOwn = !host.hidden && store.current.layer !== "lens"; // which has the same fields
    if (isOwn !== noise.hasChildNodes()) noise.replaceChildren(...(isOwn ? controls.elements : []));
    if (!host.hidden) controls.show(store.current);
    if (change?.phase === "moving") return;
    turn += 1;
    clearTimeout(timer);
    if (host.hidden) return;
    const refusal = explainStochasticRefusal(HERE, getEntries(store.current).op);
    for (const part of [...head, frame]) part.hidden = Boolean(refusal);
    if (refusal) return setText(lead, refusal);
    numbers.show();
    draw();
    timer = setTimeout(() => measure(turn), REST_MS);
  }

  /** Ask for the distances, then for the rules one after another, those in view of the filter first. @param {number} mine */
  async function measure(mine) {
    const distances = distanceArguments(store.current);
    if (!ask.known("distances", distances)) await ask("distances", distances);
    if (mine !== turn) return;
    draw();
    const { op } = getEntries(store.current);
    const all = suiting(store.current);
    const first = new Set(filtered(rowsOf(store.current), field.value).map(({ key }) => key));
    for (const rule of [...all].sort(
      (one, other) => Number(first.has(other.key)) - Number(first.has(one.key)),
    )) {
      if (mine !== turn || store.current.op !== op.key) return;
      const args = rowArguments(store.current, rule);
      if (ask.known("row", args)) continue;
      const { again, message } = await ask("row", args);
      if (mine !== turn) return;
      draw(again && message);
      if (again) return;
    }
  }

  /** @param {Choice} choice @returns {Row[]} */
  function rowsOf(choice) {
    const { op } = getEntries(choice);
    const data = getData();
    const distances = distancesIn(choice);
    return suiting(choice).map((rule) => {
      const { key, label, source } = rule;
      const found = ask.known("row", rowArguments(choice, rule));
      const passed = shareOf(op, rule, data, choice.parameters, choice.g);
      return {
        ...{ key, label, source: source ?? "", share: passed, lens: distances[key] ?? null },
        measured: found?.row && !found.note ? measuredOf(found.row) : null,
        message: found?.message ?? found?.note ?? "",
      };
    });
  }

  /** The distances known of a choice; none of other values. @param {Choice} choice @returns {Record<string, number>} */
  function distancesIn(choice) {
    const answer = ask.known("distances", distanceArguments(choice));
    return answer && !answer.note && answer.distances ? answer.distances : {};
  }

  /** @param {string|Event|false} [gone] why there is no answer */
  function draw(gone) {
    if (host.hidden) return;
    const rows = rowsOf(store.current);
    const visible = ordered(filtered(rows, field.value), order);
    drawn.show(visible);
    for (const { name, cell } of heads)
      setAttribute(cell, "aria-sort", order.by === name ? (order.down ? "descending" : "ascending") : "none");
    setText(lead, leadOf(rows, visible.length, typeof gone === "string" ? gone : ""));
    download.offer("Download CSV", "rules.csv", "text/csv", () => comparisonCsv(visible));
  }

  /** @param {Row} first */
  function createRow({ key }) {
    const picture = element("span");
    const add = element("button", {
      class: "join",
      onclick: () => store.change(joined(store.current, { rule: key, parameters: {} })),
    });
    const cells = COLUMNS.slice(1).map(({ name }) => element("td", { "data-column": name }));
    const row = element("tr", { "data-rule": key }, element("th", { scope: "row" }, picture, add), ...cells);
    let pictured = "";
    return {
      element: row,
      /** @param {Row} shown */
      show(shown) {
        const choice = store.current;
        const { op } = getEntries(choice);
        const rule = getCatalogue().rules[key];
        const looks = JSON.stringify([op.key, getSamplingSettings(choice)]);
        if (looks !== pictured) picture.replaceChildren(thumbnail({ op, rule }, getSamplingSettings(choice)));
        pictured = looks;
        setText(add, shown.label);
        add.disabled = !canJoin(choice, key);
        const chosen = choice.rules.some((one) => one.key === key);
        setAttribute(add, "aria-label", chosen ? `${shown.label}, on the chart` : `Add ${shown.label}`);
        setAttribute(row, "class", chosen ? "chosen" : null);
        cells.forEach((cell, index) => {
          const { name } = COLUMNS[index + 1];
          setText(cell, cellOf(shown, name));
          setAttribute(cell, "title", name === "source" ? shown.source : shown.message || null);
        });
      },
    };
  }

  const stop = store.subscribeNow(show);
  return {
    destroy() {
      turn += 1;
      clearTimeout(timer);
      stop();
    },
  };
}

/** The rules that are compared: none for an op that draws. @param {Choice} choice */
export function suiting(choice) {
  const { op } = getEntries(choice);
  if (findStochastic([op])) return [];
  return Object.values(getCatalogue().rules).filter(
    (rule) => isSuitable(rule, op) && !findStochastic([rule]),
  );
}

/** The arguments of the question how far each rule is from the op under noise. @param {Choice} choice */
export function distanceArguments({ op, parameters, noise, noise_width: width }) {
  return { op, parameters, noise, width };
}

/** The arguments of the question about the op with one rule alone. @param {Choice} choice @param {{key: string}} rule */
export function rowArguments(choice, { key }) {
  const chosen = choice.rules.find((one) => one.key === key);
  if (chosen) return ruleArguments(choice, chosen.slot);
  return ruleArguments(replaceRule(keepOneRule(choice, choice.rules[0].slot), 0, key), 0);
}

/** @param {Row[]} rows @param {number} visible @param {string} gone */
function leadOf(rows, visible, gone) {
  const waiting = rows.filter(({ measured, message }) => !measured && !message).length;
  const all = `${rows.length} rules suit this op${visible < rows.length ? `, ${visible} of them shown` : ""}.`;
  const note = rows.find(({ message }) => message)?.message ?? "";
  const state = gone ? gone : waiting ? `Measuring ${waiting} of them …` : note;
  return `${all} At g = 1. ${state}`.trim();
}
