// The op's inputs for which a parameter's gradient is summed. They are kept in the browser tab and never part of a
// link.

import { mirrorAtZero } from "../formula/floats.js";
import { fillTemplate as sentence } from "../formula/phrases.js";
import { parseNumbers } from "./pasted-numbers.js";
import { getSampling } from "../formula/sampling.js";
import { getCatalogue } from "./entries.js";
import { saveInSession, loadFromSession } from "./session.js";

/** The origin of numbers: standard normal, a training run, or the user. @typedef {"normal"|"carried"|"pasted"} Kind */
/**
 * Input numbers of an op. ``label``: their name within a sentence; ``bars``: a histogram if the single numbers are
 * unknown; ``note``: a sentence about values that it omits.
 * @typedef {import("../measures/share.js").Numbers & {kind: Kind, label: string, bars: {edges: number[], counts:
 *   number[]}|null, note: string}} Data
 */

/**
 * A histogram of an op's inputs in a training run. ``of``: the name of the run; ``means``: the mean of each bin, null
 * for an empty one. The outer bins include all values beyond the ends; ``note`` mentions them if they are many.
 * @typedef {{of: string, edges: number[], counts: number[], means: (number|null)[], note: string}} Carried
 */

const SELECTION_KEY = "numbers";
const CARRIED_KEY = "carried-numbers";
/** The user's selection of input numbers, and the last pasted text. @typedef {{kind: Kind, text: string}} Selection */

/** @returns {Selection} */
function loadSelection() {
  return loadFromSession(SELECTION_KEY) ?? { kind: loadCarried() ? "carried" : "normal", text: "" };
}

let cached = /** @type {Data|null} */ (null);

/** Return the stored histogram of the op's inputs in a training run, or null. @returns {Carried|null} */
export const loadCarried = () => loadFromSession(CARRIED_KEY);

/** Store a histogram of the op's inputs in a training run. Null removes the stored one. @param {Carried|null} data */
export const saveCarried = (data) => saveInSession(CARRIED_KEY, data);

/** Return the selected input numbers, or standard normal ones if they are no longer available. @returns {Data} */
export function getData() {
  const { kind, text } = loadSelection();
  cached ??=
    { normal: makeNormalData, carried: makeCarriedData, pasted: () => makePastedData(text) }[kind]() ??
    makeNormalData();
  return cached;
}

/** Return the text that the user has pasted last as input numbers, or "". */
export const getPastedText = () => loadSelection().text;

/** Select the input numbers over which the gradient of a parameter is summed. @param {Kind} kind */
export function selectKind(kind) {
  saveInSession(SELECTION_KEY, { ...loadSelection(), kind });
  cached = null;
}

/**
 * Store pasted numbers and select them as inputs of the op, if they are valid.
 * @param {string} text @returns {string} a message about the first error, or "" if they are stored
 */
export function savePasted(text) {
  const result = parseNumbers(text, getLimits());
  if ("message" in result) return result.message;
  saveInSession(SELECTION_KEY, { kind: "pasted", text });
  cached = null;
  return "";
}

/** Return the kinds of input numbers that can be selected, each with its label. @returns {[Kind, string][]} */
export function listKinds() {
  const carriedData = loadCarried();
  return [
    ["normal", "Standard normal"],
    .../** @type {[Kind, string][]} */ (carriedData ? [["carried", carriedData.of]] : []),
    ["pasted", "Your own numbers"],
  ];
}

function getLimits() {
  return { most: getCatalogue().learning.most, largest: getSampling().largest };
}

/** Return evenly spaced quantiles of the standard normal distribution as input numbers. @returns {Data} */
export function makeNormalData() {
  const { normal: numbers, words } = getCatalogue().learning;
  const values = mirrorAtZero(numbers);
  const label = words.normal.replace("{count}", values.length.toLocaleString("en"));
  return { kind: "normal", label, values, weights: null, count: values.length, bars: null, note: "" };
}

/** Return the stored histogram as input numbers, the weighted means of its bins, or null. @returns {Data|null} */
function makeCarriedData() {
  const carriedData = loadCarried();
  if (!carriedData) return null;
  const { of, edges, counts, means, note } = carriedData;
  const filledBins = counts.flatMap((count, bin) => (count ? [{ count, mean: means[bin] ?? NaN }] : []));
  const count = counts.reduce((sum, each) => sum + each, 0);
  const texts = { count: count.toLocaleString("en"), data: of, bins: counts.length };
  const label = sentence(getCatalogue().learning.words.carried, texts);
  const values = Float64Array.from(filledBins, ({ mean }) => mean);
  const weights = Float64Array.from(filledBins, (bin) => bin.count);
  return { kind: "carried", label, values, weights, count, bars: { edges, counts }, note };
}

/** Convert pasted numbers to data. Returns null if they are invalid. @param {string} text @returns {Data|null} */
function makePastedData(text) {
  const result = parseNumbers(text, getLimits());
  if ("message" in result) return null;
  const { values } = result;
  const { length: count } = values;
  const label = count === 1 ? "the number of yours" : `${count.toLocaleString("en")} numbers of yours`;
  return { kind: "pasted", label, values, weights: null, count, bars: null, note: "" };
}
