// One step of a small net by hand: every number is printed but the gradients, which are typed before they are shown.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { formatNumber, explainInvalidNumber, parseNumber } from "../../formula/numbers.js";

/** @typedef {number[][]} Matrix */
/**
 * See ByHand in explorer/lessons/pictures.py.
 * @typedef {{given: Object<string, Matrix>, hints: string[], asked: string, asked_by_rule: Object<string, Matrix>,
 *   then: string, then_by_rule: Object<string, Matrix>, rows: string, columns: string}} ByHand
 */

const NEAR = 0.01; // of the value: a number may be rounded

/** Whether a typed number is a value, nearly. @param {number} typed @param {number} value */
export function isRight(typed, value) {
  return Math.abs(typed - value) <= NEAR * Math.abs(value);
}

/**
 * The sentence to a number that is wrong: what stands at its place in the matrices that it is made from.
 * @param {ByHand} step
 * @param {number} row
 * @param {number} column
 */
export function hintOf({ given, hints, rows, columns }, row, column) {
  const parts = hints.map((name) => `${symbolOf(name)} = ${formatNumber(given[name][row][column])}`);
  return `Not yet. At ${rows} ${row + 1}, ${columns} ${column + 1}: ${parts.join(", ")}.`;
}

/** The name of a matrix without how it is computed. @param {string} name */
const symbolOf = (name) => name.split(" = ")[0];

/**
 * @param {ByHand} step
 * @returns {import("./pictures.js").Picture}
 */
export function createByHand(step) {
  const said = element("p", { class: "by-hand-said", role: "status" });
  const rules = Object.keys(step.asked_by_rule);
  const choice = element(
    "select",
    { "aria-label": "Rule of the step", onchange: begin },
    ...rules.map((name) => element("option", {}, name)),
  );
  const show = element("button", { onclick: showAll }, "Show them");
  const open = element("div", { class: "matrices" });
  const given = Object.entries(step.given).map(([name, values]) => table(name, values, formatNumber));
  /** @type {{field: HTMLInputElement, row: number, column: number}[]} */
  let cells = [];
  begin();

  /** Nothing is typed. */
  function begin() {
    cells = [];
    open.replaceChildren(table(step.asked, step.asked_by_rule[choice.value], cellOf));
    show.disabled = false;
    setText(said, `Type the ${step.asked}, element by element.`);
  }

  /** @param {number} _value @param {number} row @param {number} column */
  function cellOf(_value, row, column) {
    const name = `${step.asked}, ${step.rows} ${row + 1}, ${step.columns} ${column + 1}`;
    const field = /** @type {HTMLInputElement} */ (
      element("input", { type: "text", inputmode: "text", autocomplete: "off", "aria-label": name })
    );
    field.addEventListener("change", () => judge(row, column, field));
    cells.push({ field, row, column });
    return field;
  }

  /** @param {number} row @param {number} column @param {HTMLInputElement} field */
  function judge(row, column, field) {
    const typed = parseNumber(field.value);
    const right = typed !== null && isRight(typed, valueAt(row, column));
    field.classList.toggle("is-right", right);
    setAttribute(field, "aria-invalid", right || !field.value.trim() ? null : "true");
    if (right) return conclude();
    if (!field.value.trim()) return setText(said, "");
    return setText(said, typed === null ? explainInvalidNumber(field.value) : hintOf(step, row, column));
  }

  /** @param {number} row @param {number} column */
  function valueAt(row, column) {
    return step.asked_by_rule[choice.value][row][column];
  }

  function conclude() {
    const left = cells.filter(({ field }) => !field.classList.contains("is-right")).length;
    if (left) return setText(said, `Right. ${left === 1 ? "One is" : `${left} are`} left.`);
    for (const { field } of cells) field.readOnly = true;
    open.append(table(step.then, step.then_by_rule[choice.value], formatNumber));
    show.disabled = true;
    return setText(said, "All are right: the matrix product follows.");
  }

  function showAll() {
    for (const { field, row, column } of cells) {
      field.value = formatNumber(valueAt(row, column));
      field.classList.add("is-right");
      setAttribute(field, "aria-invalid", null);
    }
    conclude();
    setText(said, "These are torch's numbers.");
  }

  const head = element("div", { class: "by-hand-head" }, element("label", {}, "Rule ", choice), show);
  const host = element("section", { class: "by-hand", "aria-label": "One step by hand" });
  host.append(element("div", { class: "matrices" }, ...given), head, open, said);
  return { element: host, follow: () => undefined };
}

/**
 * @param {string} name
 * @param {Matrix} values
 * @param {(value: number, row: number, column: number) => Node|string} cellOf
 */
function table(name, values, cellOf) {
  const rows = values.map((row, index) =>
    element("tr", {}, ...row.map((value, column) => element("td", {}, cellOf(value, index, column)))),
  );
  return element("table", {}, element("caption", {}, name), element("tbody", {}, ...rows));
}
