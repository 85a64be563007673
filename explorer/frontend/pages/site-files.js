// The files beside the page Explore without a server, and their readers.

import { sentChoice } from "../choice/message.js";
import { atDefaults } from "../explore/sections/beside.js";
import { queryFor, suiting } from "../explore/sections/compare.js";
import { loaded } from "./files.js";

/** @import { Choice } from "../choice/choice.js" */

const FIXED = ["op", "rule"];
const GONE = "The page's data could not be loaded: reload the page.";

export const readCodes = (/** @type {string} */ op) => loaded(`code/${op}.js`);
export const readNotebooks = () => loaded("code/notebooks.js");
export const readFormulas = () => loaded("formulas.js");

/**
 * Torch's lines on a rule, for a query at the defaults.
 * @type {import("../explore/sections/checks.js").ReadLines}
 */
export async function readLines(what, query) {
  const named = new URLSearchParams(query);
  const [op, rule] = FIXED.map((name) => named.get(name) ?? "");
  const known = await loaded(`checks/${op}.js`).catch(() => null);
  const numbers = known?.[what][rule] ?? GONE;
  if (typeof numbers === "string") return { message: numbers };
  return { lines: numbers.map((/** @type {number} */ number) => known.lines[number]) };
}

/**
 * The instrument with a choice as one file.
 * @param {Choice} choice
 * @param {Record<string, *>} document of which the file has a part
 * @param {{names: string[], limits: string[]}} saved the names of that part, and those of its limits
 * @param {{head: string, main: string, rest: string}} words
 */
export async function writtenFile(choice, document, saved, words) {
  const { gzip } = await loaded("saved.js");
  const [before, after] = await Promise.all(gzip.map(unpacked));
  const limits = partOf(document.limits, saved.limits);
  const known = { ...partOf(document, saved.names), limits };
  const start = { document: known, choice: sentChoice(choice), words, ...(await tableOf(choice)) };
  return before + JSON.stringify(start).replaceAll("<", "\\u003c") + after;
}

/** The table of all rules where it is open, as far as it came along: its rows by the keys of rules. @param {Choice} choice */
async function tableOf(choice) {
  if (choice.section !== "compare") return {};
  const rows = suiting(choice).map(async ({ key }) => {
    const nearest = atDefaults(queryFor(choice, { key }));
    const answer = nearest?.moved.length === 0 ? await readLines("row", nearest.query) : null;
    return answer && "lines" in answer ? [[key, answer.lines[0]]] : [];
  });
  return { rows: Object.fromEntries((await Promise.all(rows)).flat()) };
}

/** @param {Record<string, *>} whole @param {string[]} names */
function partOf(whole, names) {
  return Object.fromEntries(names.map((name) => [name, whole[name]]));
}

/** @param {string} packed a text in gzip's format, as base64 */
function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
