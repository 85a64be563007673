// The menu Size, which scales all backward rules to the same area or width, with a table of their sizes.

import { getLinkedParameters } from "../../choice/address.js";
import { getEntries, replaceRule } from "../../choice/choice.js";
import { addCustomEntry } from "../../choice/entries.js";
import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { formatFourDigits } from "../../formula/substitution.js";

/** @import { CachedAsk } from "../../asking/ask.js" */
/** @import { Choice } from "../../choice/choice.js" */
/** The size of a rule: its area over all x, or its width at half height. @typedef {"area"|"width"} Kind */
/** @typedef {{value: number|null, reason: string}} SizeResult a size or, if it is null, why there is none */
/**
 * @typedef {{label: string, sizes: Record<Kind, SizeResult>|undefined}} Row a rule with its sizes, which are undefined
 *   until Python answers
 */

const KINDS = /** @type {Kind[]} */ (["area", "width"]);
const MEASURING_TEXT = "…";
const LEAD =
  "Is it the rule, or its size? Make all rules as large as the first one that has a size, at g = 1.";
const HEADS = ["rule", "area over all x", "width at half height"];
const TWO_TEXT = "To scale rules, choose at least two with such a size.";

/**
 * Add the controls that scale all backward rules to one size to a menu.
 * @param {import("../../choice/store.js").Store} store @param {CachedAsk} ask @param {HTMLDetailsElement} menu
 */
export function createSizeMenu(store, ask, menu) {
  let status = "";
  let before = /** @type {{choice: Choice, keys: string}|null} */ (null);
  const body = element("div", {});
  menu.lastElementChild?.append(body);
  menu.addEventListener("toggle", () => menu.open && show(store.current));

  /** Scale all rules to the area or width of the first rule that has one. @param {Kind} kind */
  async function scale(kind) {
    const now = store.current;
    if (!canScale(listRows(now), kind)) return;
    const { entries, words, message } = await ask("scaled", { ...getSizesArguments(now), kind });
    if (toRulesKey(store.current) !== toRulesKey(now)) return;
    if (message !== undefined) return say(message);
    let next = store.current;
    for (const { key, slot } of now.rules) {
      if (!entries[key]) continue;
      addCustomEntry("rule", entries[key]);
      next = replaceRule(next, slot, entries[key].key);
    }
    before = { choice: before && hasScaledRules(now) ? before.choice : now, keys: toRulesKey(next) };
    store.change(next);
    return say(words);
  }

  /** @param {string} words */
  function say(words) {
    status = words;
    draw();
  }

  /** @param {Choice} choice @returns {Row[]} */
  function listRows(choice) {
    const answer = ask.known("sizes", getSizesArguments(choice));
    return getEntries(choice).rules.map(({ key, label }) => ({ label, sizes: answer?.rules?.[key] }));
  }

  function takeBack() {
    if (!before) return;
    const { rules, parameters, bounds, learns, training } = before.choice;
    before = null;
    status = "The rules have their original sizes.";
    store.change({ ...store.current, rules, parameters, bounds, learns, training });
    menu.querySelector("summary")?.focus();
  }

  /** Return whether the rules on the page are unchanged since they were scaled. @param {Choice} choice */
  function hasScaledRules(choice) {
    return before?.keys === toRulesKey(choice);
  }

  /** Show the sizes. While the menu is open, ask Python for missing ones. @param {Choice} choice */
  function show(choice) {
    if (before && !hasScaledRules(choice)) {
      before = null;
      status = "";
    }
    if (!menu.open) return;
    draw();
    const args = getSizesArguments(choice);
    if (!ask.known("sizes", args))
      void ask("sizes", args).then(({ message }) =>
        message === undefined ? show(store.current) : say(message),
      );
  }

  function draw() {
    const rows = listRows(store.current);
    const buttons = KINDS.map((kind) => {
      const state = canScale(rows, kind) ? {} : { "aria-disabled": "true", title: TWO_TEXT };
      return h("button", { ...state, onclick: () => scale(kind) }, `One ${kind}`);
    });
    const heads = HEADS.map((head) => h("th", { scope: "col" }, head));
    render(
      body,
      h("p", {}, LEAD),
      h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows.map(makeTableRow))),
      h("div", { class: "acts flex-wrap" }, buttons, before && h("button", { onclick: takeBack }, "Undo")),
      h("p", { role: "status" }, status),
    );
  }

  draw();
  return { show };
}

/** @param {Row} row */
function makeTableRow({ label, sizes }) {
  const cells = KINDS.map((kind) => {
    const { value, reason } = sizes?.[kind] ?? { value: null, reason: MEASURING_TEXT };
    return h("td", { class: value === null && "greyed" }, value === null ? reason : formatFourDigits(value));
  });
  return h("tr", {}, h("th", { scope: "row" }, label), cells);
}

/**
 * Return whether at least two rules have this size, so that rules can be scaled to it.
 * @param {Row[]} rows @param {Kind} kind
 */
const canScale = (rows, kind) => rows.filter(({ sizes }) => sizes?.[kind].value != null).length > 1;

/** Return the arguments of the question for the sizes of all rules. @param {Choice} choice */
export function getSizesArguments(choice) {
  const { op, rules } = choice;
  return { op, rules: rules.map(({ key }) => key), parameters: getLinkedParameters(choice) };
}

/** @param {Choice} choice */
const toRulesKey = ({ op, rules }) => JSON.stringify([op, rules.map(({ key, slot }) => [key, slot])]);
