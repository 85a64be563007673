// A visitor's own table: its text, the column that is learnt and those left out, and what was read of it. No page.

import { formatShort } from "../../formula/numbers.js";

/** @import { Column, Survey } from "./records.js" */
/**
 * A table to learn from; where target and without are null the server suggests them.
 * @typedef {{text: string, target: string|null, without: string[]|null}} OwnTable
 * The answer of the server to a table: what it read, or why it cannot. Null before it comes.
 * @typedef {(Survey & {message?: undefined})|{message: string}|null} Reading
 * A row of the preview: ``learnt`` is the target, ``out`` is left out.
 * @typedef {{name: string, holds: string, learnt: boolean, out: boolean, remark: string, wrong: boolean}} Row
 * The whole preview; ``gaps`` is the number of rows with one.
 * @typedef {{summary: string, rows: Row[], names: string[], head: string[][], refused: string, gaps: number}} Preview
 */

/** @type {OwnTable} */
export const NO_TABLE = { text: "", target: null, without: null };
const SIGNS = /** @type {Object<string, string>} */ ({ ",": "commas", ";": "semicolons", "\t": "tabs" });
const WORKBOOK = "PK"; // the first letters of a zip, which a workbook is
const MOST_NAMED = 6; // classes

/** A table nobody has chosen columns of. @param {string} text @returns {OwnTable} */
export const newTable = (text) => ({ ...NO_TABLE, text });

/**
 * The table as it was read, with the columns of its survey.
 * @param {OwnTable} table
 * @param {Reading} reading
 * @returns {OwnTable}
 */
export function asRead(table, reading) {
  if (!reading || reading.message !== undefined) return table;
  return { ...table, target: reading.target, without: reading.without };
}

/** Learn another column. @param {OwnTable} table @param {string} name @returns {OwnTable} */
export function withTarget(table, name) {
  return { ...table, target: name, without: (table.without ?? []).filter((other) => other !== name) };
}

/**
 * Leave a column out, or take it back.
 * @param {OwnTable} table
 * @param {string} name
 * @param {boolean} out
 * @returns {OwnTable}
 */
export function withOut(table, name, out) {
  const others = (table.without ?? []).filter((other) => other !== name);
  return { ...table, without: out ? [...others, name] : others };
}

/**
 * The table without the rows that have gaps.
 * @param {OwnTable} table
 * @param {Reading} reading
 * @returns {OwnTable}
 */
export function withoutGaps(table, reading) {
  return reading && reading.message === undefined
    ? { ...asRead(table, reading), text: reading.complete }
    : table;
}

/**
 * The text of a file: UTF-8, UTF-16 or, as older spreadsheets write it, Windows' Latin letters.
 * @param {ArrayBuffer} bytes
 * @returns {{text: string}|{message: string}}
 */
export function decoded(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  if (String.fromCharCode(first, second) === WORKBOOK)
    return { message: "This is a workbook, not text: save it as CSV and open that file." };
  if ([0xfeff, 0xfffe].includes(first * 256 + second))
    return { text: new TextDecoder(first === 0xff ? "utf-16le" : "utf-16be").decode(bytes) };
  const text = utf8(bytes) ?? new TextDecoder("windows-1252").decode(bytes);
  return text.includes("\0") ? { message: "This is not text: open a table saved as CSV." } : { text };
}

/** @param {ArrayBuffer} bytes */
function utf8(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The survey of a table as it is shown; null before there is one. @param {Reading} reading @returns {Preview|null} */
export function previewOf(reading) {
  if (!reading) return null;
  if (reading.message !== undefined)
    return { summary: "", rows: [], names: [], head: [], refused: reading.message, gaps: 0 };
  const { columns, head, target, without, refused, gaps } = reading;
  return {
    summary: summaryOf(reading),
    rows: columns.map((column) => rowOf(column, column.name === target, without.includes(column.name))),
    names: columns.map(({ name }) => name),
    head,
    refused: refused && sentence(refused),
    gaps,
  };
}

/** @param {Survey} survey */
function summaryOf({ rows, columns, delimiter, decimal, named, gaps }) {
  const size = `${rows.toLocaleString("en-US")} rows, ${columns.length} columns split at ${SIGNS[delimiter]}`;
  const more = [named ? "" : "no row of names", decimal === "," ? "decimal commas" : "", gapsText(gaps)];
  return [size, ...more.filter(Boolean)].join("; ");
}

/** @param {number} gaps rows with one */
const gapsText = (gaps) =>
  gaps ? `${gaps.toLocaleString("en-US")} row${gaps === 1 ? " has a gap" : "s have gaps"}` : "";

/** @param {string} clause */
const sentence = (clause) => `${clause[0].toUpperCase()}${clause.slice(1)}.`;

/** @param {Column} column @param {boolean} learnt @param {boolean} out @returns {Row} */
function rowOf(column, learnt, out) {
  const { name, fault, suggested } = column;
  const wrong = !learnt && !out && fault !== "";
  const remark = out ? suggested : wrong ? sentence(fault) : "";
  return { name, holds: holdsOf(column, learnt), learnt, out, remark, wrong };
}

/**
 * The type of a column with its range, or its classes with their counts.
 * @param {Column} column
 * @param {boolean} learnt
 */
function holdsOf({ low, high, classes, different }, learnt) {
  if (classes.length > 0 && (learnt || low === null)) {
    const named = classes.slice(0, MOST_NAMED).map(([text, count]) => `${text} ${count}`);
    const more = classes.length > MOST_NAMED ? ", …" : "";
    return `${classes.length} classes: ${named.join(", ")}${more}`;
  }
  if (low === null || high === null) return `${different} texts`;
  return low === high
    ? `number, always ${formatShort(low)}`
    : `number, ${formatShort(low)} to ${formatShort(high)}`;
}
