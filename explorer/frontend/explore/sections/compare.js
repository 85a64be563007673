// The section Compare: every rule that suits the op, a row each, to sort, to filter and to add.

import { thumbnail } from "../../chart/scene/thumbnail.js";
import { fits, queryOf } from "../../choice/address.js";
import { entriesOf, settingsOf, withOtherRule } from "../../choice/choice.js";
import { chosenData } from "../../choice/data.js";
import { catalogue, refusalOfDrawn, suits } from "../../choice/entries.js";
import { valuesOf } from "../../formula/curves.js";
import { firstDrawn } from "../../formula/draws.js";
import { keyed } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { beside } from "../../formula/controls.js";
import { listed } from "../../formula/phrases.js";
import { cellOf, COLUMNS, comparisonCsv, filtered, measuredOf, ordered } from "../../measures/comparison.js";
import { distanceFrom, seenThrough } from "../../measures/lens.js";
import { shareOf } from "../../measures/share.js";
import { createControls } from "../stage/controls.js";
import { createNumbers } from "../stage/numbers.js";
import { alone, canJoin, joined } from "./beside.js";
import { createDownload } from "./download.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Rule } from "../../formula/entry.js" */
/** @import { Measured, Order, Row } from "../../measures/comparison.js" */
/** @import { Brought, ReadLines } from "./checks.js" */

const HERE = "Compare";
const GONE = "The server does not answer.";
const APP = "The app measures it: this site has no server.";
const LONG = "Too long for a link, and so it cannot be measured: shorten a formula.";
const REST_MS = 300; // a choice that is changed again sooner is not asked for
const MOST_CACHED = 1000;

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, read: ReadLines, brought?: Brought}} options
 */
export function createCompare(host, { store, read, brought }) {
  const known = /** @type {Map<string, Measured|string>} */ (new Map());
  const lead = element("p", { role: "status" });
  const field = element("input", {
    type: "search",
    placeholder: "Filter rules",
    "aria-label": "Filter rules",
  });
  const download = createDownload();
  const numbers = createNumbers(() => store.change({ ...store.now }));
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
  const controls = createControls(catalogue().layers.lens.controls, store);
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
    host.hidden = store.now.section !== "compare";
    const isOwn = !host.hidden && store.now.layer !== "lens"; // which has the same fields
    if (isOwn !== noise.hasChildNodes()) noise.replaceChildren(...(isOwn ? controls.elements : []));
    if (!host.hidden) controls.show(store.now);
    if (change?.phase === "moving") return;
    turn += 1;
    clearTimeout(timer);
    if (host.hidden) return;
    const refusal = refusalOfDrawn(HERE, entriesOf(store.now).op);
    for (const part of [...head, frame]) part.hidden = Boolean(refusal);
    if (refusal) return setText(lead, refusal);
    numbers.show();
    draw();
    timer = setTimeout(() => measure(turn), REST_MS);
  }

  /** Ask for the rules one after another, those in view of the filter first. @param {number} mine */
  async function measure(mine) {
    const { op } = entriesOf(store.now);
    const all = suiting(store.now);
    const first = new Set(filtered(rowsOf(store.now), field.value).map(({ key }) => key));
    for (const rule of [...all].sort(
      (one, other) => Number(first.has(other.key)) - Number(first.has(one.key)),
    )) {
      if (mine !== turn || store.now.op !== op.key) return;
      const query = queryFor(store.now, rule);
      if (known.has(query)) continue;
      const answer = await answered(query);
      if (known.size >= MOST_CACHED) known.clear();
      if (answer !== GONE) known.set(query, answer);
      if (mine !== turn) return;
      draw(answer === GONE);
      if (answer === GONE) return;
    }
  }

  /** @param {string} query @returns {Promise<Measured|string>} */
  async function answered(query) {
    if (!fits(query)) return LONG;
    const nearest = brought ? brought.nearest(query) : { query, moved: [] };
    if (!nearest) return APP;
    if (nearest.moved.length)
      return `At the defaults alone: for ${listed(nearest.moved)} the app measures it.`;
    const answer = await read("row", nearest.query);
    if (!answer) return GONE;
    return "message" in answer ? answer.message : measuredOf(answer.lines[0]);
  }

  /** @param {Choice} choice @returns {Row[]} */
  function rowsOf(choice) {
    const { op } = entriesOf(choice);
    const data = chosenData();
    const offs = offsIn(choice);
    return suiting(choice).map((rule) => {
      const { key, label, source } = rule;
      const found = known.get(queryFor(choice, rule));
      const passed = shareOf(op, rule, data, choice.parameters, choice.g);
      const isMeasured = typeof found === "object";
      return {
        ...{ key, label, source: source ?? "", share: passed, lens: offs[key] },
        ...{ measured: isMeasured ? found : null, message: isMeasured ? "" : (found ?? "") },
      };
    });
  }

  let far = { key: "", offs: /** @type {Record<string, number|null>} */ ({}) };

  /** The distance of each rule from the op under noise at g = 1, computed once. @param {Choice} choice */
  function offsIn(choice) {
    const { op } = entriesOf(choice);
    const { range, parameters, noise, noise_width: width } = choice;
    const key = JSON.stringify([op.key, range, parameters, noise, width]);
    if (key === far.key) return far.offs;
    const seen = seenThrough(op, valuesOf(op, null, parameters), catalogue().noises[noise], width, range);
    const plain = { ...settingsOf(choice), g: 1 };
    const offs = suiting(choice).map((rule) => [rule.key, distanceFrom(op, beside(op, rule), plain, seen)]);
    far = { key, offs: Object.fromEntries(offs) };
    return far.offs;
  }

  /** @param {boolean|Event} [gone] whether the server does not answer */
  function draw(gone) {
    if (host.hidden) return;
    const rows = rowsOf(store.now);
    const visible = ordered(filtered(rows, field.value), order);
    drawn.show(visible);
    for (const { name, cell } of heads)
      setAttribute(cell, "aria-sort", order.by === name ? (order.down ? "descending" : "ascending") : "none");
    setText(lead, leadOf(rows, visible.length, gone === true));
    download.offer("Download CSV", "rules.csv", "text/csv", () => comparisonCsv(visible));
  }

  /** @param {Row} first */
  function createRow({ key }) {
    const picture = element("span");
    const add = element("button", {
      class: "join",
      onclick: () => store.change(joined(store.now, { rule: key, parameters: {} })),
    });
    const cells = COLUMNS.slice(1).map(({ name }) => element("td", { "data-column": name }));
    const row = element("tr", { "data-rule": key }, element("th", { scope: "row" }, picture, add), ...cells);
    let pictured = "";
    return {
      element: row,
      /** @param {Row} shown */
      show(shown) {
        const choice = store.now;
        const { op } = entriesOf(choice);
        const rule = catalogue().rules[key];
        const looks = JSON.stringify([op.key, settingsOf(choice)]);
        if (looks !== pictured) picture.replaceChildren(thumbnail({ op, rule }, settingsOf(choice)));
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

  const stop = store.follow(show);
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
  const { op } = entriesOf(choice);
  if (firstDrawn([op])) return [];
  return Object.values(catalogue().rules).filter((rule) => suits(rule, op) && !firstDrawn([rule]));
}

/** The query of the op with one rule alone. @param {Choice} choice @param {{key: string}} rule */
export function queryFor(choice, { key }) {
  const chosen = choice.rules.find((one) => one.key === key);
  if (chosen) return queryOf(alone(choice, chosen.slot));
  return queryOf(withOtherRule(alone(choice, choice.rules[0].slot), 0, key));
}

/** @param {Row[]} rows @param {number} visible @param {boolean} gone */
function leadOf(rows, visible, gone) {
  const waiting = rows.filter(({ measured, message }) => !measured && !message).length;
  const all = `${rows.length} rules suit this op${visible < rows.length ? `, ${visible} of them shown` : ""}.`;
  const note = rows.find(({ message }) => message)?.message ?? "";
  const state = gone ? GONE : waiting ? `Measuring ${waiting} of them …` : note;
  return `${all} At g = 1. ${state}`.trim();
}
