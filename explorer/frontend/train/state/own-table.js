// The table of data that the user has pasted, with its target column and the columns to leave out.

import { formatShort } from "../../formula/numbers.js";

/** @import { Column, Survey } from "./records.js" */
/**
 * The user's table of data and its analysis.
 * @typedef {{text: string, target: string|null, without: string[]|null}} OwnTable the table as text; if ``target`` and
 *   ``without`` (the columns to leave out) are null, the server suggests them
 * @typedef {(Survey & {message?: undefined})|{message: string}|null} Reading the server's analysis of a table, or a
 *   message on why there is none; null before it answers
 * @typedef {{name: string, holds: string, learnt: boolean, out: boolean, remark: string, wrong: boolean}} Row a column
 *   in the preview; ``learnt``: whether it is the target; ``out``: whether it is left out; ``remark``: why it is left
 *   out or cannot be used
 * @typedef {{summary: string, rows: Row[], names: string[], head: string[][], refused: string, unusable: number,
 *   worst: string}} Preview the whole preview; ``unusable``: the number of rows that cannot be used; ``worst``: the
 *   column to leave out instead, or ""
 */

/** @type {OwnTable} */
export const NO_TABLE = { text: "", target: null, without: null };
const SIGNS = /** @type {Object<string, string>} */ ({ ",": "commas", ";": "semicolons", "\t": "tabs" });
const WORKBOOK = "PK"; // first characters of a zip file, such as an Excel workbook
const MAX_NAMED = 6; // maximum number of classes listed for a column
const MIN_HELD_OUT = 50; // with fewer, one row changes a score by more than two points

/** Return a table without a choice of columns. @param {string} text @returns {OwnTable} */
export const makeTable = (text) => ({ ...NO_TABLE, text });

/**
 * Return a table with the target and omitted columns of the server's analysis, if there is one.
 * @param {OwnTable} table @param {Reading} reading @returns {OwnTable}
 */
export function asRead(table, reading) {
  if (!reading || reading.message !== undefined) return table;
  return { ...table, target: reading.target, without: reading.without };
}

/** Return a table with another target. @param {OwnTable} table @param {string} name the column @returns {OwnTable} */
export function withTarget(table, name) {
  return { ...table, target: name, without: (table.without ?? []).filter((other) => other !== name) };
}

/**
 * Return a copy of a table with one column left out or included again.
 * @param {OwnTable} table @param {string} name @param {boolean} out @returns {OwnTable}
 */
export function withOut(table, name, out) {
  const rest = (table.without ?? []).filter((other) => other !== name);
  return { ...table, without: out ? [...rest, name] : rest };
}

/**
 * Return a copy of a table without the rows that cannot be used. Before the analysis, the table itself is returned.
 * @param {OwnTable} table @param {Reading} reading @returns {OwnTable}
 */
export function dropGaps(table, reading) {
  return reading && reading.message === undefined
    ? { ...asRead(table, reading), text: reading.complete }
    : table;
}

/**
 * Decode a text file in UTF-8, UTF-16 or Windows-1252, the encoding of older spreadsheets.
 * @param {ArrayBuffer} bytes @returns {{text: string}|{message: string}} a message if it is no text
 */
export function decodeFile(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  if (String.fromCharCode(first, second) === WORKBOOK)
    return { message: "This is a workbook, not text: save it as CSV and open that file." };
  if ([0xfeff, 0xfffe].includes(first * 256 + second))
    return { text: new TextDecoder(first === 0xff ? "utf-16le" : "utf-16be").decode(bytes) };
  const text = decodeUtf8(bytes) ?? new TextDecoder("windows-1252").decode(bytes);
  if (text.includes("\0")) return { message: "This is not text: open a table saved as CSV." };
  return text.trim() ? { text } : { message: "This file is empty: open a table saved as CSV." };
}

/** @param {ArrayBuffer} bytes */
function decodeUtf8(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Return the preview of a table, or null before the server has analysed it.
 * @param {Reading} reading @returns {Preview|null}
 */
export function buildTablePreview(reading) {
  if (!reading) return null;
  if (reading.message !== undefined)
    return { summary: "", rows: [], names: [], head: [], refused: reading.message, unusable: 0, worst: "" };
  const { columns, head, target, without: leftOut, refused, unusable, worst } = reading;
  return {
    summary: summaryOf(reading),
    rows: columns.map((column) => rowOf(column, column.name === target, leftOut.includes(column.name))),
    names: columns.map(({ name }) => name),
    head,
    refused: refused && toSentence(refused),
    unusable,
    worst,
  };
}

/** @param {Survey} survey */
function summaryOf({ rows, columns, delimiter, decimal, named, unusable, target, chance }) {
  const size = `${rows.toLocaleString("en-US")} rows, ${columns.length} columns split at ${SIGNS[delimiter]}`;
  const learnt = target === null ? "" : `learns ${target}`;
  const held = Math.floor(rows / 5); // as the server splits the rows
  const few = held < MIN_HELD_OUT ? ", too few to compare close rules" : "";
  const judged = `${held.toLocaleString("en-US")} row${held === 1 ? "" : "s"} held out${few}`;
  const guess = chance && `always guessing their commonest class: ${(100 * chance).toFixed(1)}\u00a0%`;
  const lost =
    unusable && `${unusable.toLocaleString("en-US")} row${unusable === 1 ? "" : "s"} cannot be used`;
  const notes = [named ? "" : "no row of names", decimal === "," ? "decimal commas" : "", lost];
  return [size, learnt, ...(unusable ? [] : [judged, guess]), ...notes].filter(Boolean).join("; ");
}

/** @param {string} clause */
const toSentence = (clause) => `${clause[0].toUpperCase()}${clause.slice(1)}.`;

/**
 * @param {Column} column @param {boolean} learnt whether it is the target @param {boolean} out whether it is left out
 * @returns {Row}
 */
function rowOf(column, learnt, out) {
  const { name, fault, suggested } = column;
  const wrong = !learnt && !out && fault !== "";
  const remark = out ? suggested : wrong ? toSentence(fault) : "";
  return { name, holds: describeContent(column, learnt), learnt, out, remark, wrong };
}

/** @param {Column} column @param {boolean} learnt whether it is the target */
function describeContent({ low, high, classes, different, suggested }, learnt) {
  if (classes.length > 0 && (learnt || low === null)) {
    const named = classes.slice(0, MAX_NAMED).map(([text, count]) => `${text} ${count}`);
    const ellipsis = classes.length > MAX_NAMED ? ", …" : "";
    const kind = learnt || suggested ? "classes" : "categories, an input each";
    return `${classes.length} ${kind}: ${named.join(", ")}${ellipsis}`;
  }
  if (low === null || high === null) return `${different} text${different === 1 ? "" : "s"}`;
  return low === high
    ? `number, always ${formatShort(low)}`
    : `number, ${formatShort(low)} to ${formatShort(high)}`;
}
