// An exercise: the reader computes the gradients of one training step of a small net by hand.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { formatNumber, explainInvalidNumber, parseNumber } from "../../formula/numbers.js";

/** Rows of numbers. @typedef {number[][]} Matrix */
/**
 * The exercise, as ByHand in explorer/lessons/pictures.py. ``given``: the given matrices; ``asked``, ``asked_by_rule``:
 * name and values of the matrix to compute; ``then``, ``then_by_rule``: those of the matrix that follows.
 * @typedef {{given: Object<string, Matrix>, hints: string[], asked: string, asked_by_rule: Object<string, Matrix>,
 *   then: string, then_by_rule: Object<string, Matrix>, rows: string, columns: string}} ByHand
 */

const TOLERANCE = 0.01; // relative, because readers may round

/** Return whether a typed number is close enough to the right value. @param {number} typed @param {number} value */
export function isRight(typed, value) {
  return Math.abs(typed - value) <= TOLERANCE * Math.abs(value);
}

/**
 * Return a hint after a wrong entry: the entries of other matrices from which the right one follows.
 * @param {ByHand} step @param {number} row @param {number} column
 */
export function makeHint({ given, hints, rows, columns }, row, column) {
  const parts = hints.map((name) => `${name.split(" = ")[0]} = ${formatNumber(given[name][row][column])}`);
  return `Not yet. At ${rows} ${row + 1}, ${columns} ${column + 1}: ${parts.join(", ")}.`;
}

/**
 * Create the exercise in which the reader computes the gradients of a training step by hand.
 * @param {ByHand} step @returns {import("./pictures.js").Picture}
 */
export function createByHand(step) {
  const status = element("p", { class: "by-hand-said", role: "status" });
  const rules = Object.keys(step.asked_by_rule);
  const choice = element(
    "select",
    { "aria-label": "Rule of the step", onchange: begin },
    ...rules.map((name) => element("option", {}, name)),
  );
  const show = element("button", { onclick: showAll }, "Show them");
  const typedTables = element("div", { class: "matrices" });
  const givenTables = Object.entries(step.given).map(([name, values]) =>
    createTable(name, values, formatNumber),
  );
  /** @type {{field: HTMLInputElement, row: number, column: number}[]} */
  let cells = [];
  begin();

  function begin() {
    cells = [];
    typedTables.replaceChildren(createTable(step.asked, step.asked_by_rule[choice.value], createCell));
    show.disabled = false;
    setText(status, `Type the ${step.asked}, element by element.`);
  }

  /** @param {number} _value @param {number} row @param {number} column */
  function createCell(_value, row, column) {
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
    const right = typed !== null && isRight(typed, getValue(row, column));
    field.classList.toggle("is-right", right);
    setAttribute(field, "aria-invalid", right || !field.value.trim() ? null : "true");
    if (right) return conclude();
    if (!field.value.trim()) return setText(status, "");
    return setText(status, typed === null ? explainInvalidNumber(field.value) : makeHint(step, row, column));
  }

  /** Return the right value of an entry. @param {number} row @param {number} column */
  function getValue(row, column) {
    return step.asked_by_rule[choice.value][row][column];
  }

  function conclude() {
    const left = cells.filter(({ field }) => !field.classList.contains("is-right")).length;
    if (left) return setText(status, `Right. ${left === 1 ? "One is" : `${left} are`} left.`);
    for (const { field } of cells) field.readOnly = true;
    typedTables.append(createTable(step.then, step.then_by_rule[choice.value], formatNumber));
    show.disabled = true;
    return setText(status, "All are right: the matrix product follows.");
  }

  function showAll() {
    for (const { field, row, column } of cells) {
      field.value = formatNumber(getValue(row, column));
      field.classList.add("is-right");
      setAttribute(field, "aria-invalid", null);
    }
    conclude();
    setText(status, "These are torch's numbers.");
  }

  const head = element("div", { class: "by-hand-head" }, element("label", {}, "Rule ", choice), show);
  const host = element("section", { class: "by-hand", "aria-label": "One step by hand" });
  host.append(element("div", { class: "matrices" }, ...givenTables), head, typedTables, status);
  return { element: host, follow: () => undefined };
}

/**
 * @param {string} name @param {Matrix} values
 * @param {(value: number, row: number, column: number) => Node|string} cellOf returns the content of a cell
 */
function createTable(name, values, cellOf) {
  const rows = values.map((row, index) =>
    element("tr", {}, ...row.map((value, column) => element("td", {}, cellOf(value, index, column)))),
  );
  return element("table", {}, element("caption", {}, name), element("tbody", {}, ...rows));
}
