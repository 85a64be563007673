// The menu in the strip that scales all rules to one area or one width: a row a rule, greyed with the reason.

import { getLinkedParameters } from "../../choice/address.js";
import { getEntries, replaceRule } from "../../choice/choice.js";
import { addCustomEntry } from "../../choice/entries.js";
import { counted } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";
import { formatFourDigits } from "../../formula/substitution.js";

/** @import { CachedAsk } from "../../asking/ask.js" */
/** @import { Choice } from "../../choice/choice.js" */
/** @typedef {"area"|"width"} Kind */
/** @typedef {{value: number|null, reason: string}} Sized a size, or why there is none */
/** @typedef {{label: string, sizes: Record<Kind, Sized>|undefined}} Row without sizes until Python has answered */

const KINDS = /** @type {Kind[]} */ (["area", "width"]);
const MEASURING = "…";
const LEAD =
  "Is it the rule, or its size? Make all rules as large as the first one that has a size, at g = 1.";
const HEADS = ["rule", "area over all x", "width at half height"];
const TWO = "It takes two rules that have one.";

/** @param {import("../../choice/store.js").Store} store @param {CachedAsk} ask */
export function createSizeMenu(store, ask) {
  const buttons = KINDS.map((kind) => element("button", { onclick: () => scale(kind) }, `One ${kind}`));
  const undo = element("button", { onclick: takeBack, hidden: "" }, "Undo");
  const said = element("p", { role: "status" });
  const body = element("tbody", {});
  const heads = HEADS.map((head) => element("th", { scope: "col" }, head));
  const menu = createMenu(
    "Size",
    element("p", {}, LEAD),
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body),
    element("div", { class: "acts" }, ...buttons, undo),
    said,
  );
  let before = /** @type {{choice: Choice, keys: string}|null} */ (null);
  menu.addEventListener("toggle", () => menu.open && show(store.current));

  /** @param {Kind} kind */
  async function scale(kind) {
    const now = store.current;
    if (!canScale(rowsOf(now), kind)) return;
    const { entries, words, message } = await ask("scaled", { ...sizesArguments(now), kind });
    if (keysOf(store.current) !== keysOf(now)) return;
    setText(said, message ?? words);
    if (message !== undefined) return;
    let next = store.current;
    for (const { key, slot } of now.rules) {
      if (!entries[key]) continue;
      addCustomEntry("rule", entries[key]);
      next = replaceRule(next, slot, entries[key].key);
    }
    before = { choice: before && isAfter(now) ? before.choice : now, keys: keysOf(next) };
    store.change(next);
    setText(said, words);
  }

  /** The rules of a choice with their sizes, as far as Python has answered. @param {Choice} choice @returns {Row[]} */
  function rowsOf(choice) {
    const answer = ask.known("sizes", sizesArguments(choice));
    return getEntries(choice).rules.map(({ key, label }) => ({ label, sizes: answer?.rules?.[key] }));
  }

  function takeBack() {
    if (!before) return;
    const { rules, parameters, bounds, learns, training } = before.choice;
    before = null;
    setText(said, "The rules are as they were.");
    store.change({ ...store.current, rules, parameters, bounds, learns, training });
    menu.querySelector("summary")?.focus();
  }

  /** Whether a choice still has the scaled rules. @param {Choice} choice */
  function isAfter(choice) {
    return before?.keys === keysOf(choice);
  }

  /** @param {Choice} choice */
  function show(choice) {
    if (before && !isAfter(choice)) {
      before = null;
      setText(said, "");
    }
    undo.hidden = !before;
    if (!menu.open) return;
    const args = sizesArguments(choice);
    if (!ask.known("sizes", args))
      void ask("sizes", args).then(({ message }) => {
        if (message !== undefined) setText(said, message);
        if (message === undefined) show(store.current);
      });
    const rows = rowsOf(choice);
    counted(body, rows, createRow, drawRow);
    buttons.forEach((button, at) => {
      const can = canScale(rows, KINDS[at]);
      setAttribute(button, "aria-disabled", can ? null : "true");
      setAttribute(button, "title", can ? null : TWO);
    });
  }

  return { element: element("div", { class: "end size" }, menu), show };
}

function createRow() {
  return element("tr", {}, element("th", { scope: "row" }), ...KINDS.map(() => element("td", {})));
}

/** @param {HTMLElement} node @param {Row} row */
function drawRow(node, { label, sizes }) {
  const [name, ...cells] = node.children;
  setText(name, label);
  cells.forEach((cell, at) => {
    const { value, reason } = sizes?.[KINDS[at]] ?? { value: null, reason: MEASURING };
    setText(cell, value === null ? reason : formatFourDigits(value));
    setAttribute(cell, "class", value === null ? "greyed" : null);
  });
}

/** Whether there are two rules with a size. @param {Row[]} rows @param {Kind} kind */
const canScale = (rows, kind) => rows.filter(({ sizes }) => sizes?.[kind].value != null).length > 1;

/** The arguments of the question about a choice. @param {Choice} choice */
export function sizesArguments(choice) {
  const { op, rules } = choice;
  return { op, rules: rules.map(({ key }) => key), parameters: getLinkedParameters(choice) };
}

/** @param {Choice} choice */
const keysOf = ({ op, rules }) => JSON.stringify([op, rules.map(({ key, slot }) => [key, slot])]);
