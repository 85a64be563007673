// The numbers beneath a parameter that learns: stored in this tab, and in no link.

import { mirrored } from "../formula/floats.js";
import { filled as sentence } from "../formula/phrases.js";
import { numbersIn } from "./pasted.js";
import { sampling } from "../formula/sampling.js";
import { catalogue } from "./entries.js";
import { keep, load } from "./session.js";

/** @typedef {"normal"|"carried"|"pasted"} Kind */
/**
 * ``label`` as in a sentence; ``bars`` if only a histogram is known, ``note`` on its omissions.
 * @typedef {import("../measures/share.js").Numbers & {kind: Kind, label: string,
 *   bars: {edges: number[], counts: number[]}|null, note: string}} Data
 */

/**
 * A histogram of what came into an op: ``of`` says whose it is, ``means`` are those of the numbers in each bin,
 * null in an empty one; what lies beyond the ends is in the outermost, and ``note`` says so where that is much.
 * @typedef {{of: string, edges: number[], counts: number[], means: (number|null)[], note: string}} Carried
 */

const NAME = "numbers";
const CARRIED = "carried-numbers";
/** @typedef {{kind: Kind, text: string}} Kept ``text`` is the pasted one */

/** @returns {Kept} */
function chosen() {
  return load(NAME) ?? { kind: carriedData() ? "carried" : "normal", text: "" };
}

let read = /** @type {Data|null} */ (null); // the last data that were read

/** The data that a training has carried here. @returns {Carried|null} */
export const carriedData = () => load(CARRIED);

/** Keep data of a training, or remove them. @param {Carried|null} data */
export const carry = (data) => keep(CARRIED, data);

/** The numbers that are chosen; the standard normal where they are gone. @returns {Data} */
export function chosenData() {
  const { kind, text } = chosen();
  read ??= { normal: normalData, carried, pasted: () => pasted(text) }[kind]() ?? normalData();
  return read;
}

/** The text that was pasted last, or "". */
export const pastedText = () => chosen().text;

/** @param {Kind} kind */
export function chooseData(kind) {
  keep(NAME, { ...chosen(), kind });
  read = null;
}

/**
 * Take over a pasted text.
 * @param {string} text
 * @returns {string} a sentence on the first fault; "" if there is none
 */
export function pasteData(text) {
  const result = numbersIn(text, limits());
  if ("message" in result) return result.message;
  keep(NAME, { kind: "pasted", text });
  read = null;
  return "";
}

/** The kinds that can be chosen now, with their names. @returns {[Kind, string][]} */
export function kinds() {
  const brought = carriedData();
  return [
    ["normal", "Standard normal"],
    .../** @type {[Kind, string][]} */ (brought ? [["carried", brought.of]] : []),
    ["pasted", "Your own numbers"],
  ];
}

function limits() {
  return { most: catalogue().learning.most, largest: sampling().largest };
}

/** Standard normal numbers. @returns {Data} */
export function normalData() {
  const { normal: numbers, words } = catalogue().learning;
  const values = mirrored(numbers);
  const label = words.normal.replace("{count}", values.length.toLocaleString("en"));
  return { kind: "normal", label, values, weights: null, count: values.length, bars: null, note: "" };
}

/** The data of a training: the mean of each bin, as often as it has numbers. @returns {Data|null} */
function carried() {
  const brought = carriedData();
  if (!brought) return null;
  const { of, edges, counts, means, note } = brought;
  const filled = counts.flatMap((count, bin) => (count ? [{ count, mean: means[bin] ?? NaN }] : []));
  const count = counts.reduce((sum, each) => sum + each, 0);
  const texts = { count: count.toLocaleString("en"), data: of, bins: counts.length };
  const label = sentence(catalogue().learning.words.carried, texts);
  const values = Float64Array.from(filled, ({ mean }) => mean);
  const weights = Float64Array.from(filled, (bin) => bin.count);
  return { kind: "carried", label, values, weights, count, bars: { edges, counts }, note };
}

/** @param {string} text @returns {Data|null} */
function pasted(text) {
  const result = numbersIn(text, limits());
  if ("message" in result) return null;
  const { values } = result;
  const { length: count } = values;
  const label = count === 1 ? "the number of yours" : `${count.toLocaleString("en")} numbers of yours`;
  return { kind: "pasted", label, values, weights: null, count, bars: null, note: "" };
}
