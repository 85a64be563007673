// Ops and rules by key: the catalogue's document, and the own formulas met so far.

import { beside } from "../formula/controls.js";
import { firstDrawn } from "../formula/draws.js";
import { filled } from "../formula/phrases.js";
import { held } from "../formula/records.js";
import { setSampling } from "../formula/sampling.js";

/** @import { Loss } from "../formula/draws.js" */
/** @import { Op, Rule } from "../formula/entry.js" */
/** @typedef {{op: Op, rule: Rule, loss: Loss}} ByKind */
/** @typedef {keyof ByKind} Kind */
/**
 * The document of explorer/instrument/document.py. A saved file has no ``link`` and nothing below it.
 * @typedef {object} Document
 * @property {Record<string, Op>} ops
 * @property {Record<string, Rule>} rules
 * @property {Record<string, string>} families
 * @property {Record<string, string>} groups
 * @property {string} own what the key of an own formula begins with
 * @property {{op: Op, rule: Rule[]}} firstOwn what own formulas start from
 * @property {{light: string[], dark: string[], neutral: string, ends: [string, string]}} colours ``ends`` of a scale through 0
 * @property {import("../formula/sampling.js").Sampling} sampling
 * @property {Record<import("../formula/contribution.js").Origin, string>} origins of a contribution, in words
 * @property {{normal: number[], most: number, words: Record<string, string>}} learning of a parameter: the standard
 *   normal as numbers, those above 0, how many may be pasted, and sentences with fields in braces
 * @property {Record<string, {label: string, meaning: string, controls: Record<string, string>}>} layers of
 *   the chart: see explorer/instrument/view.py
 * @property {Record<string, Loss>} losses of what draws, by their texts
 * @property {Record<string, string>} drawn sentences on what draws, with fields in braces
 * @property {import("./view.js").Word[]} view the words of a link that are rows
 * @property {{rules: number, formula: number, nodes: number, query: number, quote: number,
 *   readings: number, table: {fewest: number, rows: number, columns: number, classes: number, bytes: number},
 *   study: {low: number, high: number, rates: number, values: number, scaled: string[], unscaled: string},
 *   unwatched: number}} limits ``table`` and ``study`` are not in a saved file either; ``scaled`` are
 *   optimisers whose steps are as long as gradients are large, ``unscaled`` says why not others, ``unwatched``: seconds
 *   after which a run that nobody watches pauses
 * @property {{words: string[], pages: {learn: string, train: string}}} link ``pages``: addresses beside that of Explore
 * @property {string} saved the address of what a saved file is made of; a saved file has none
 * @property {*[]} settings of a run
 * @property {*[]} tasks in the order of the picker
 * @property {string} firstTask of who asks for nothing
 * @property {string} usualTask of a link without one
 * @property {*[]} instruments measurements of a training
 * @property {string[]} panels keys of instruments that have a module in train/panels
 * @property {Record<"ready"|"running"|"paused", string>} sentences on the status of a run: templates
 * @property {string[]} controls keys of rules beside which others must look better
 */

let known = /** @type {Document} */ (/** @type {unknown} */ (null));
/** @type {{[K in Kind]: Record<string, ByKind[K]>}} */
const own = { op: {}, rule: {}, loss: {} };

/** Take over the document that the server or the saved file holds. @param {Document} document */
export function setDocument(document) {
  known = document;
  setSampling(document.sampling);
  learnAll({ op: [known.firstOwn.op], rule: known.firstOwn.rule, loss: [] });
}

/** The document: ops, rules, families, groups, limits. */
export function catalogue() {
  return known;
}

/**
 * The entry of a key.
 * @template {Kind} K
 * @param {K} kind
 * @param {string} key
 */
export function find(kind, key) {
  /** @type {{[K in Kind]: Record<string, ByKind[K]>}} */
  const listed = { op: known.ops, rule: known.rules, loss: known.losses };
  return held(listed[kind], key) ?? held(own[kind], key);
}

/** The rule of a key as it stands beside an op. @param {Op|undefined} op @param {string} key */
export function findBeside(op, key) {
  const rule = find("rule", key);
  return op && rule ? beside(op, rule) : rule;
}

/**
 * Remember an own formula.
 * @template {Kind} K
 * @param {K} kind
 * @param {ByKind[K]} entry
 */
export function learn(kind, entry) {
  Object.assign(own[kind], { [entry.key]: entry });
}

/** Forget an own formula that is not chosen any more. @param {Kind} kind @param {string} key */
export function forget(kind, key) {
  delete own[kind][key];
}

/** Remember the own formulas that travelled with a choice. @param {{op: Op[], rule: Rule[], loss?: Loss[]}} entries */
export function learnAll({ op, rule, loss = [] }) {
  op.forEach((entry) => learn("op", entry));
  rule.forEach((entry) => learn("rule", entry));
  loss.forEach((entry) => learn("loss", entry));
}

/** @param {string} key whether it is an own formula's */
export function isOwn(key) {
  return key.startsWith(known.own.trimEnd());
}

/** The formula of an own key; the blank behind "formula:" may be left out. @param {string} key */
export function ownText(key) {
  return key.slice(known.own.trimEnd().length).replace(/^ /, "");
}

/**
 * The own formulas of a choice, as they travel with it.
 * @param {{op: string, rules: {key: string}[], f: string}} choice
 */
export function ownEntries(choice) {
  const keys = choice.rules.map((rule) => rule.key);
  return {
    op: [choice.op].filter(isOwn).map((key) => find("op", key)),
    rule: keys.filter(isOwn).map((key) => find("rule", key)),
    loss: [find("loss", choice.f)],
  };
}

/**
 * Why a part of the page takes no such ops and rules, "" where it does: none of them may draw.
 * @param {string} here its name
 * @param {...(Op|Rule)} entries
 */
export function refusalOfDrawn(here, ...entries) {
  const drawn = firstDrawn(entries);
  return drawn ? filled(known.drawn.fixed, { entry: drawn.label, here }) : "";
}

/**
 * Why no net trains an op or rule, "" where one does.
 * @param {Op|Rule} entry
 * @param {boolean} [spikes] whether the units of the net do
 */
export function refusalOfTraining({ untrained = "", unspiking = "" }, spikes = false) {
  return spikes ? unspiking : untrained;
}

/** Whether a rule makes sense for an op. @param {Rule} rule @param {Op} op */
export function suits(rule, op) {
  return !rule.suits.length || rule.suits.includes(op.family) || isOwn(op.key);
}
