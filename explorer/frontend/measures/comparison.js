/**
 * The table that compares all backward rules suited to an op: columns, cell texts, sort order and CSV.
 * @typedef {object} Measured Python's measurements of a rule: see Row in explorer/measures/table.py
 * @property {string} rule the rule's key @property {number} peak maximum of |gradient|
 * @property {number} area integral of |gradient| over x
 * @property {number} support length of the x where the gradient is not 0
 * @property {boolean} linear whether it is linear in the upstream gradient g
 * @property {boolean} finite whether it is finite everywhere @property {string} fails names of the failed checks
 * @property {string} source
 * @typedef {{key: string, label: string, source: string, share: number|null, lens: number|null, measured:
 *   Measured|null, message: string}} Row one rule; ``share``: mean size of its gradient relative to straight-through's;
 *   ``lens``: distance from the slope of the op's mean under noise; ``measured``: null until Python answers;
 *   ``message``: why it does not
 * @typedef {"rule"|"peak"|"area"|"support"|"share"|"lens"|"linear"|"finite"|"fails"|"source"} Column a column of the
 *   table
 * @typedef {{by: Column|"", down: boolean}} Order the column by which rows are sorted, "" for the order of the
 *   catalogue
 */

import { quote } from "./csv.js";
import { formatPassedShare, formatShort } from "../formula/numbers.js";

const ZERO = 1e-12;

/** @type {{name: Column, label: string, title: string}[]} */
export const COLUMNS = [
  { name: "rule", label: "Rule", title: "Press one to add it" },
  { name: "peak", label: "Peak", title: "Its largest value by size, at g = 1" },
  { name: "area", label: "Area", title: "Its integral over all x, at g = 1" },
  { name: "support", label: "Support", title: "The length of x from where it begins to where it ends" },
  { name: "share", label: "Share", title: "How large its gradient is relative to straight-through's" },
  {
    name: "lens",
    label: "Off lens",
    title: "How far it is off the op's gradient under the noise above, as a share of that",
  },
  { name: "linear", label: "Linear", title: "Whether twice the g gives twice the gradient" },
  { name: "finite", label: "Finite", title: "Whether it is a number everywhere, in every dtype" },
  { name: "fails", label: "Fails", title: "The checks that fail" },
  { name: "source", label: "Source", title: "Paper or public file" },
];

/** The numbers that JSON cannot represent, by their names in a message. @type {Record<string, number>} */
const TEXTS = { inf: Infinity, "-inf": -Infinity, nan: NaN };

/** Decode a row of the comparison table from Python. @param {*} line @returns {Measured} */
export function parseRow(line) {
  const number = (/** @type {number|string} */ value) => (typeof value === "string" ? TEXTS[value] : value);
  const { peak, area, support } = line;
  return { ...line, peak: number(peak), area: number(area), support: number(support) };
}

/** Format a cell of the table. A value that is not measured yet becomes "…". @param {Row} row @param {Column} column */
export function formatCell(row, column) {
  const { measured } = row;
  if (column === "rule") return row.label;
  if (column === "source") return row.source;
  if (column === "share" || column === "lens") {
    const share = row[column];
    return share === null || !Number.isFinite(share) ? "–" : formatPassedShare(share <= ZERO ? 0 : share);
  }
  if (!measured) return row.message ? "–" : "…";
  const value = measured[column];
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value || "none";
  if (Number.isNaN(value)) return "–";
  return Number.isFinite(value) ? formatShort(value) : value < 0 ? "−∞" : "∞";
}

/**
 * Return the rows whose label, key, source or failed checks contain a text.
 * @param {Row[]} rows @param {string} text
 */
export function filterRows(rows, text) {
  const wanted = text.trim().toLowerCase();
  const hasText = (/** @type {Row} */ { key, label, source, measured }) =>
    [key, label, source, measured?.fails ?? ""].join(" ").toLowerCase().includes(wanted);
  return rows.filter(hasText);
}

/**
 * Sort the rows of the table by a column. Rows without a value come last in both directions.
 * @param {Row[]} rows @param {Order} order
 */
export function sortRows(rows, { by, down }) {
  if (!by) return rows;
  const entries = rows.map((row) => ({ row, value: getSortValue(row, by) }));
  const missing = entries.filter(({ value }) => value === null);
  const present = entries.filter(({ value }) => value !== null);
  const direction = down ? -1 : 1;
  present.sort(({ value: one }, { value: other }) => {
    if (typeof one === "string") return direction * one.localeCompare(String(other));
    return one === other ? 0 : Number(one) < Number(other) ? -direction : direction;
  });
  return [...present, ...missing].map(({ row }) => row);
}

/** @param {Row} row @param {Exclude<Column, "rule">} column */
function getField(row, column) {
  return column === "source" || column === "share" || column === "lens"
    ? row[column]
    : row.measured?.[column];
}

/**
 * Return the value by which a cell is sorted, or null if there is none.
 * @param {Row} row @param {Column} column @returns {number|string|null}
 */
function getSortValue(row, column) {
  if (column === "rule") return row.label;
  const value = getField(row, column);
  if (value === undefined || value === null || Number.isNaN(value)) return null;
  return typeof value === "boolean" ? Number(value) : value;
}

/** Format the comparison table as CSV, with the values of ``explorer.compare(…)``. @param {Row[]} rows */
export function makeComparisonCsv(rows) {
  const lines = rows.map((row) => COLUMNS.map(({ name }) => quote(formatCsvField(row, name))).join(","));
  return `${[COLUMNS.map(({ name }) => name).join(","), ...lines].join("\n")}\n`;
}

/** @param {Row} row @param {Column} column */
function formatCsvField(row, column) {
  if (column === "rule") return row.key;
  const value = getField(row, column);
  if (value === undefined || value === null || Number.isNaN(value)) return "";
  if (typeof value === "boolean") return value ? "True" : "False";
  return String(value);
}
