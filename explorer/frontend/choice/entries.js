// Looks up ops, backward rules and losses, both from the catalogue and from the user's formulas.

import { adaptRule } from "../formula/controls.js";
import { findStochastic } from "../formula/draws.js";
import { fillTemplate } from "../formula/phrases.js";
import { getOwn } from "../formula/records.js";
import { setSampling } from "../formula/sampling.js";

/** @import { Loss } from "../formula/draws.js" */
/** @import { Op, Rule } from "../formula/entry.js" */
/** @typedef {{op: Op, rule: Rule, loss: Loss}} ByKind */
/** @typedef {keyof ByKind} Kind */
/**
 * The data that comes with a page, made by explorer/instrument/document.py. A saved file has no ``link`` and none of
 * the fields after it.
 * @typedef {object} Document
 * @property {Record<string, Op>} ops
 * @property {Record<string, Rule>} rules
 * @property {Record<string, string>} families
 * @property {Record<string, string>} groups
 * @property {string} own prefix of custom formulas' keys
 * @property {Rule} ownRule a rule drawn by hand, from which others are made
 * @property {{light: string[], dark: string[], neutral: string, ends: [string, string]}} colours ``ends``: of the
 *   diverging scale
 * @property {import("../formula/sampling.js").Sampling} sampling
 * @property {Record<import("../formula/contribution.js").Origin, string>} origins labels of a contribution's origins
 * @property {{normal: number[], most: number, words: Record<string, string>}} learning for a learning parameter: the
 *   standard normal's numbers above 0, the most numbers to paste, and sentence templates
 * @property {Record<string, {label: string, meaning: string, controls: Record<string, string>}>} layers of
 *   the chart: see explorer/instrument/view.py
 * @property {Record<string, Loss>} losses for stochastic ops and rules, by text
 * @property {Record<string, string>} drawn sentence templates about stochastic ops and rules
 * @property {import("./view.js").Word[]} view the query parameters declared in Python
 * @property {{rules: number, formula: number, nodes: number, query: number, quote: number,
 *   readings: number, table: {fewest: number, rows: number, columns: number, classes: number, bytes: number},
 *   study: {low: number, high: number, rates: number, values: number, scaled: string[], unscaled: string},
 *   unwatched: number}} limits ``table`` and ``study`` are missing from a saved file too; ``scaled`` are optimisers
 *   whose step is proportional to the gradient, ``unscaled`` is the reason against others, ``unwatched`` the seconds
 *   until an unwatched run pauses
 * @property {{words: string[], pages: {learn: string, train: string}}} link ``pages``: addresses relative to Explore's
 * @property {string} saved the address of the template for saved files; not in a saved file
 * @property {*[]} settings of a run
 * @property {*[]} tasks in the order of the picker
 * @property {string} firstTask the task of a visit without a link
 * @property {string} usualTask the task of a link that names none
 * @property {*[]} instruments measurements of a training
 * @property {string[]} panels keys of instruments that have a module in train/panels
 * @property {Record<"ready"|"running"|"paused", string>} sentences templates about the status of a run
 * @property {string[]} controls keys of baseline rules, which other rules should beat
 */

let documentData = /** @type {Document} */ (/** @type {unknown} */ (null));
/** @type {{[K in Kind]: Record<string, ByKind[K]>}} */
const customEntries = { op: {}, rule: {}, loss: {} };

/** Set the catalogue that came with the page or with a saved file. @param {Document} document */
export function setDocument(document) {
  documentData = document;
  setSampling(document.sampling);
}

/** Return the catalogue of ops, rules, families, groups and limits. */
export function getCatalogue() {
  return documentData;
}

/** Look up an op, rule or loss, or return undefined. @template {Kind} K @param {K} kind @param {string} key */
export function findEntry(kind, key) {
  /** @type {{[K in Kind]: Record<string, ByKind[K]>}} */
  const catalogued = { op: documentData.ops, rule: documentData.rules, loss: documentData.losses };
  return getOwn(catalogued[kind], key) ?? getOwn(customEntries[kind], key);
}

/** Look up a backward rule, adapted to an op. @param {Op|undefined} op @param {string} key */
export function findRuleForOp(op, key) {
  const rule = findEntry("rule", key);
  return op && rule ? adaptRule(op, rule) : rule;
}

/** Register a custom formula. @template {Kind} K @param {K} kind @param {ByKind[K]} entry */
export function addCustomEntry(kind, entry) {
  Object.assign(customEntries[kind], { [entry.key]: entry });
}

/** Remove a custom formula that is no longer used. @param {Kind} kind @param {string} key */
export function removeCustomEntry(kind, key) {
  delete customEntries[kind][key];
}

/** Register the custom formulas that a page's settings use. @param {{op: Op[], rule: Rule[], loss?: Loss[]}} entries */
export function addCustomEntries({ op, rule, loss = [] }) {
  op.forEach((entry) => addCustomEntry("op", entry));
  rule.forEach((entry) => addCustomEntry("rule", entry));
  loss.forEach((entry) => addCustomEntry("loss", entry));
}

/** Return whether a key belongs to a custom formula. @param {string} key */
export function isCustom(key) {
  return key.startsWith(documentData.own.trimEnd());
}

/** Return the formula that the key of a custom op or rule contains. @param {string} key */
export function getCustomText(key) {
  return key.slice(documentData.own.trimEnd().length).replace(/^ /, "");
}

/**
 * Return the custom formulas and the loss that a page's settings use.
 * @param {{op: string, rules: {key: string}[], f: string}} choice
 */
export function getCustomEntries(choice) {
  const keys = choice.rules.map((rule) => rule.key);
  return {
    op: [choice.op].filter(isCustom).map((key) => findEntry("op", key)),
    rule: keys.filter(isCustom).map((key) => findEntry("rule", key)),
    loss: [findEntry("loss", choice.f)],
  };
}

/**
 * Explain why a part of the page does not work with stochastic ops or rules, or return "".
 * @param {string} place the part's name
 * @param {...(Op|Rule)} entries
 */
export function explainStochasticRefusal(place, ...entries) {
  const stochastic = findStochastic(entries);
  return stochastic ? fillTemplate(documentData.drawn.fixed, { entry: stochastic.label, here: place }) : "";
}

/**
 * Explain why no net can be trained with an op or rule, or return "".
 * @param {Op|Rule} entry
 * @param {boolean} [isSpiking] whether the net's units spike
 */
export function explainTrainingRefusal({ untrained = "", unspiking = "" }, isSpiking = false) {
  return isSpiking ? unspiking : untrained;
}

/** Return whether a backward rule is meant for a given op. @param {Rule} rule @param {Op} op */
export function isSuitable(rule, op) {
  return !rule.suits.length || rule.suits.includes(op.family) || isCustom(op.key);
}
