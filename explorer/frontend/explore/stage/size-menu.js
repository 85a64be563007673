// The menu in the strip that scales all rules to one area or one width: a row a rule, greyed with the reason.

import { counted } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";
import { listed } from "../../formula/phrases.js";
import { numberText } from "../../formula/numbers.js";
import { numberText as fewDigits } from "../../formula/substitution.js";
import { KINDS, canScale, rowsOf, scaledTo } from "./one-size.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Kind, Sized } from "../../measures/size.js" */
/** @import { Done, Row } from "./one-size.js" */

const LEAD =
  "Is it the rule, or its size? Make all rules as large as the first one that has a size, at g = 1.";
const HEADS = ["rule", "area over all x", "width at half height"];
const TWO = "It takes two rules that have one.";

/** @param {import("../../choice/store.js").Store} store */
export function createSizeMenu(store) {
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
  menu.addEventListener("toggle", () => menu.open && show(store.now));

  /** @param {Kind} kind */
  function scale(kind) {
    const now = store.now;
    const rows = rowsOf(now);
    if (!canScale(rows, kind)) return;
    const { choice, done } = scaledTo(now, rows, kind);
    before = { choice: before && isAfter(now) ? before.choice : now, keys: keysOf(choice) };
    store.change(choice);
    setText(said, wordsOf(done));
  }

  function takeBack() {
    if (!before) return;
    const { rules, parameters, bounds, learns, training } = before.choice;
    before = null;
    setText(said, "The rules are as they were.");
    store.change({ ...store.now, rules, parameters, bounds, learns, training });
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
function drawRow(node, { rule, sizes }) {
  const [name, ...cells] = node.children;
  setText(name, rule.label);
  cells.forEach((cell, at) => {
    const { value, reason } = sizes[KINDS[at]];
    setText(cell, reason || fewDigits(value));
    setAttribute(cell, "class", reason ? "greyed" : null);
  });
}

/** @param {Choice} choice */
const keysOf = ({ op, rules }) => JSON.stringify([op, rules.map(({ key, slot }) => [key, slot])]);

/** @param {Done} done */
function wordsOf({ kind, first, size, factors, refused }) {
  const scaled = factors.map(([label, factor, lost]) => {
    const without = lost.length ? ` (without its own gradient for ${listed(lost)})` : "";
    return `${label} × ${numberText(factor)}${without}`;
  });
  const left = refused.map(([label, reason]) => `${label} ${reason}`);
  const lead = `To the ${kind} of ${first}, ${fewDigits(size)}`;
  const main = scaled.length ? `${lead}: ${listed(scaled)}.` : `${lead}: all have it already.`;
  return left.length ? `${main} Not scaled: ${left.join("; ")}.` : main;
}
