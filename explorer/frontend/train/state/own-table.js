// The table of training data that the user has pasted, with its target column and the columns to leave out.

import { formatShort } from "../../formula/numbers.js";

/** @import { Column, Survey } from "./records.js" */
/**
 * A table to learn from; the server suggests ``target`` and ``without`` if they are null.
 * @typedef {{text: string, target: string|null, without: string[]|null}} OwnTable
 * The server's reading of a table, or the reason why it cannot read it; null before it answers.
 * @typedef {(Survey & {message?: undefined})|{message: string}|null} Reading
 * A column in the preview: ``learnt`` says whether it is the target, ``out`` whether it is left out.
 * @typedef {{name: string, holds: string, learnt: boolean, out: boolean, remark: string, wrong: boolean}} Row
 * The complete preview; ``gaps`` is the number of rows with a gap.
 * @typedef {{summary: string, rows: Row[], names: string[], head: string[][], refused: string, gaps: number}} Preview
 */

/** @type {OwnTable} */
export const NO_TABLE = { text: "", target: null, without: null };
const SIGNS = /** @type {Object<string, string>} */ ({ ",": "commas", ";": "semicolons", "\t": "tabs" });
const WORKBOOK = "PK"; // the first bytes of a zip file, the format of Excel workbooks
const MAX_NAMED = 6; // maximum number of classes listed in a column's preview

/** Create a table from text, with no columns chosen yet. @param {string} text @returns {OwnTable} */
export const makeTable = (text) => ({ ...NO_TABLE, text });

/**
 * Return a copy of the user's table with the target and the omitted columns that the server has determined.
 * @param {OwnTable} table
 * @param {Reading} reading
 * @returns {OwnTable}
 */
export function asRead(table, reading) {
  if (!reading || reading.message !== undefined) return table;
  return { ...table, target: reading.target, without: reading.without };
}

/** Return a copy of a table with another target. @param {OwnTable} table @param {string} name @returns {OwnTable} */
export function withTarget(table, name) {
  return { ...table, target: name, without: (table.without ?? []).filter((other) => other !== name) };
}

/**
 * Return a copy of the table with one column left out of training, or included again.
 * @param {OwnTable} table
 * @param {string} name
 * @param {boolean} out
 * @returns {OwnTable}
 */
export function withOut(table, name, out) {
  const rest = (table.without ?? []).filter((other) => other !== name);
  return { ...table, without: out ? [...rest, name] : rest };
}

/**
 * Return a copy of the user's table without the rows that have missing values.
 * @param {OwnTable} table
 * @param {Reading} reading
 * @returns {OwnTable}
 */
export function dropGaps(table, reading) {
  return reading && reading.message === undefined
    ? { ...asRead(table, reading), text: reading.complete }
    : table;
}

/**
 * Decode a text file in UTF-8, UTF-16 or Windows-1252, the encoding of older spreadsheets.
 * @param {ArrayBuffer} bytes @returns {{text: string}|{message: string}} a message if the file is not text
 */
export function decodeFile(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  if (String.fromCharCode(first, second) === WORKBOOK)
    return { message: "This is a workbook, not text: save it as CSV and open that file." };
  if ([0xfeff, 0xfffe].includes(first * 256 + second))
    return { text: new TextDecoder(first === 0xff ? "utf-16le" : "utf-16be").decode(bytes) };
  const text = decodeUtf8(bytes) ?? new TextDecoder("windows-1252").decode(bytes);
  return text.includes("\0") ? { message: "This is not text: open a table saved as CSV." } : { text };
}

/** Decode bytes as UTF-8. Returns null if they are invalid. @param {ArrayBuffer} bytes */
function decodeUtf8(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Build the preview of the user's table from the server's description. Returns null before the server has answered.
 * @param {Reading} reading
 * @returns {Preview|null}
 */
export function buildTablePreview(reading) {
  if (!reading) return null;
  if (reading.message !== undefined)
    return { summary: "", rows: [], names: [], head: [], refused: reading.message, gaps: 0 };
  const { columns, head, target, without: leftOut, refused, gaps } = reading;
  return {
    summary: summaryOf(reading),
    rows: columns.map((column) => rowOf(column, column.name === target, leftOut.includes(column.name))),
    names: columns.map(({ name }) => name),
    head,
    refused: refused && toSentence(refused),
    gaps,
  };
}

/** @param {Survey} survey */
function summaryOf({ rows, columns, delimiter, decimal, named, gaps }) {
  const size = `${rows.toLocaleString("en-US")} rows, ${columns.length} columns split at ${SIGNS[delimiter]}`;
  const notes = [named ? "" : "no row of names", decimal === "," ? "decimal commas" : "", describeGaps(gaps)];
  return [size, ...notes.filter(Boolean)].join("; ");
}

/** @param {number} gaps number of rows with a gap */
const describeGaps = (gaps) =>
  gaps ? `${gaps.toLocaleString("en-US")} row${gaps === 1 ? " has a gap" : "s have gaps"}` : "";

/** @param {string} clause */
const toSentence = (clause) => `${clause[0].toUpperCase()}${clause.slice(1)}.`;

/** @param {Column} column @param {boolean} learnt @param {boolean} out @returns {Row} */
function rowOf(column, learnt, out) {
  const { name, fault, suggested } = column;
  const wrong = !learnt && !out && fault !== "";
  const remark = out ? suggested : wrong ? toSentence(fault) : "";
  return { name, holds: describeContent(column, learnt), learnt, out, remark, wrong };
}

/**
 * Describe the contents of a table column by its range, or by its classes and their counts.
 * @param {Column} column
 * @param {boolean} learnt
 */
function describeContent({ low, high, classes, different }, learnt) {
  if (classes.length > 0 && (learnt || low === null)) {
    const named = classes.slice(0, MAX_NAMED).map(([text, count]) => `${text} ${count}`);
    const ellipsis = classes.length > MAX_NAMED ? ", …" : "";
    return `${classes.length} classes: ${named.join(", ")}${ellipsis}`;
  }
  if (low === null || high === null) return `${different} texts`;
  return low === high
    ? `number, always ${formatShort(low)}`
    : `number, ${formatShort(low)} to ${formatShort(high)}`;
}
