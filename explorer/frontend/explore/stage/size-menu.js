// The menu that scales all backward rules to the same area or width, with a table of their sizes.

import { getLinkedParameters } from "../../choice/address.js";
import { getEntries, replaceRule } from "../../choice/choice.js";
import { addCustomEntry } from "../../choice/entries.js";
import { updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";
import { formatFourDigits } from "../../formula/substitution.js";

/** @import { CachedAsk } from "../../asking/ask.js" */
/** @import { Choice } from "../../choice/choice.js" */
/** @typedef {"area"|"width"} Kind */
/** @typedef {{value: number|null, reason: string}} SizeResult a size, or the reason why there is none */
/** @typedef {{label: string, sizes: Record<Kind, SizeResult>|undefined}} Row ``sizes``: undefined before Python's answer */

const KINDS = /** @type {Kind[]} */ (["area", "width"]);
const MEASURING_TEXT = "…";
const LEAD =
  "Is it the rule, or its size? Make all rules as large as the first one that has a size, at g = 1.";
const HEADS = ["rule", "area over all x", "width at half height"];
const TWO_TEXT = "It takes two rules that have one.";

/**
 * Create the menu that scales all backward rules to the same size.
 * @param {import("../../choice/store.js").Store} store @param {CachedAsk} ask
 */
export function createSizeMenu(store, ask) {
  const buttons = KINDS.map((kind) => element("button", { onclick: () => scale(kind) }, `One ${kind}`));
  const undo = element("button", { onclick: takeBack, hidden: "" }, "Undo");
  const status = element("p", { role: "status" });
  const body = element("tbody", {});
  const heads = HEADS.map((head) => element("th", { scope: "col" }, head));
  const menu = createMenu(
    "Size",
    element("p", {}, LEAD),
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body),
    element("div", { class: "acts" }, ...buttons, undo),
    status,
  );
  let before = /** @type {{choice: Choice, keys: string}|null} */ (null);
  menu.addEventListener("toggle", () => menu.open && show(store.current));

  /** Scale all rules to the area or width of the first rule. @param {Kind} kind */
  async function scale(kind) {
    const now = store.current;
    if (!canScale(listRows(now), kind)) return;
    const { entries, words, message } = await ask("scaled", { ...getSizesArguments(now), kind });
    if (toRulesKey(store.current) !== toRulesKey(now)) return;
    setText(status, message ?? words);
    if (message !== undefined) return;
    let next = store.current;
    for (const { key, slot } of now.rules) {
      if (!entries[key]) continue;
      addCustomEntry("rule", entries[key]);
      next = replaceRule(next, slot, entries[key].key);
    }
    before = { choice: before && hasScaledRules(now) ? before.choice : now, keys: toRulesKey(next) };
    store.change(next);
    setText(status, words);
  }

  /** Return the current rules with their sizes, as far as they are known. @param {Choice} choice @returns {Row[]} */
  function listRows(choice) {
    const answer = ask.known("sizes", getSizesArguments(choice));
    return getEntries(choice).rules.map(({ key, label }) => ({ label, sizes: answer?.rules?.[key] }));
  }

  function takeBack() {
    if (!before) return;
    const { rules, parameters, bounds, learns, training } = before.choice;
    before = null;
    setText(status, "The rules have their original sizes.");
    store.change({ ...store.current, rules, parameters, bounds, learns, training });
    menu.querySelector("summary")?.focus();
  }

  /** Return whether the settings still have the scaled rules. @param {Choice} choice */
  function hasScaledRules(choice) {
    return before?.keys === toRulesKey(choice);
  }

  /** Show the sizes, and request the missing ones while the menu is open. @param {Choice} choice */
  function show(choice) {
    if (before && !hasScaledRules(choice)) {
      before = null;
      setText(status, "");
    }
    undo.hidden = !before;
    if (!menu.open) return;
    const args = getSizesArguments(choice);
    if (!ask.known("sizes", args))
      void ask("sizes", args).then(({ message }) => {
        if (message !== undefined) setText(status, message);
        if (message === undefined) show(store.current);
      });
    const rows = listRows(choice);
    updateChildren(body, rows, createRow, drawRow);
    buttons.forEach((button, at) => {
      const can = canScale(rows, KINDS[at]);
      setAttribute(button, "aria-disabled", can ? null : "true");
      setAttribute(button, "title", can ? null : TWO_TEXT);
    });
  }

  return { element: element("div", { class: "end size" }, menu), show };
}

function createRow() {
  return element("tr", {}, element("th", { scope: "row" }), ...KINDS.map(() => element("td", {})));
}

/** Fill the table row with a rule's name and sizes. @param {HTMLElement} node @param {Row} row */
function drawRow(node, { label, sizes }) {
  const [name, ...cells] = node.children;
  setText(name, label);
  cells.forEach((cell, at) => {
    const { value, reason } = sizes?.[KINDS[at]] ?? { value: null, reason: MEASURING_TEXT };
    setText(cell, value === null ? reason : formatFourDigits(value));
    setAttribute(cell, "class", value === null ? "greyed" : null);
  });
}

/** Return whether at least two rules have a size. @param {Row[]} rows @param {Kind} kind */
const canScale = (rows, kind) => rows.filter(({ sizes }) => sizes?.[kind].value != null).length > 1;

/** Return the arguments for requesting the sizes of all rules. @param {Choice} choice */
export function getSizesArguments(choice) {
  const { op, rules } = choice;
  return { op, rules: rules.map(({ key }) => key), parameters: getLinkedParameters(choice) };
}

/** Return a string that identifies the current op and rules. @param {Choice} choice */
const toRulesKey = ({ op, rules }) => JSON.stringify([op, rules.map(({ key, slot }) => [key, slot])]);
