// Lookup of ops, backward rules and losses by key, in the catalogue and among the user's formulas.

import { adaptRule } from "../formula/controls.js";
import { findStochastic } from "../formula/draws.js";
import { fillTemplate } from "../formula/phrases.js";
import { getOwn } from "../formula/records.js";
import { setSampling } from "../formula/sampling.js";

/** @import { Loss } from "../formula/draws.js" */
/** @import { Op, Rule } from "../formula/entry.js" */
/**
 * The type of an entry for each kind: op, backward rule, or loss of a stochastic op's output.
 * @typedef {{op: Op, rule: Rule, loss: Loss}} ByKind
 */
/** The kind of an entry. @typedef {keyof ByKind} Kind */
/**
 * Catalogue and limits, which explorer/instrument/document.py writes into a page. A file saved from Explore has no
 * ``link`` and none of the fields after it.
 * @typedef {object} Document
 * @property {Record<string, Op>} ops ops by key @property {Record<string, Rule>} rules backward rules by key
 * @property {Record<string, string>} families labels of groups of ops, by key
 * @property {Record<string, string>} groups labels of groups of rules, by key
 * @property {string} own prefix of the keys of user-typed formulas
 * @property {Rule} ownRule template of a rule drawn by hand
 * @property {{light: string[], dark: string[], neutral: string}} colours colours of the rules' curves, by theme;
 *   ``neutral``: the colour of the op's curve
 * @property {import("../formula/sampling.js").Sampling} sampling
 * @property {Record<import("../formula/contribution.js").Origin, string>} origins labels that say where the formula of
 *   a parameter's gradient comes from
 * @property {{normal: number[], most: number, words: Record<string, string>}} learning for a parameter that learns: the
 *   positive quantiles of the standard normal distribution, the maximum count of pasted numbers, and sentence templates
 * @property {Record<string, {label: string, meaning: string, controls: Record<string, string>}>} layers further curves
 *   of the chart, by key, as ``Layer`` in explorer/instrument/view.py
 * @property {Record<string, Loss>} losses for stochastic ops and rules, by formula
 * @property {Record<string, string>} drawn sentence templates about stochastic ops and rules
 * @property {import("./view.js").QueryParameter[]} view declarations of the query parameters
 * @property {{rules: number, formula: number, nodes: number, query: number, quote: number, readings: number, table:
 *   {fewest: number, rows: number, columns: number, classes: number, categories: number, bytes: number}, study: {low:
 *   number, high: number, rates: number, scaled: string[], unscaled: string}, unwatched: number}} limits maximum counts
 *   and lengths; ``table`` (the user's data), ``study`` and ``unwatched`` are missing from a saved file; ``scaled``:
 *   optimisers whose step is proportional to the gradient; ``unscaled``: why other optimisers are refused;
 *   ``unwatched``: seconds until a run that no page watches pauses
 * @property {{words: string[], pages: {learn: string, train: string}}} link names of the query parameters, and the
 *   addresses of other pages relative to Explore's
 * @property {string} saved address of the template of saved files
 * @property {*[]} settings declarations of the settings of a training run
 * @property {*[]} tasks data sets with nets, in the order of the picker
 * @property {string} firstTask key of the task on a first visit without a link
 * @property {string} usualTask key of the task for links that name none
 * @property {*[]} instruments measurements available during a training run
 * @property {Record<"ready"|"running"|"paused", string>} sentences templates for the status of a run
 * @property {string[]} controls keys of baseline rules, trained for comparison
 */

let documentData = /** @type {Document} */ (/** @type {unknown} */ (null));
/** @type {{[K in Kind]: Record<string, ByKind[K]>}} */
const customEntries = { op: {}, rule: {}, loss: {} };

/** Store the catalogue and limits that come with a page or a saved file. @param {Document} document */
export function setDocument(document) {
  documentData = document;
  setSampling(document.sampling);
}

/** Return the catalogue of ops and rules, with the limits. */
export function getCatalogue() {
  return documentData;
}

/** Return the op, rule or loss with a key, or undefined. @template {Kind} K @param {K} kind @param {string} key */
export function findEntry(kind, key) {
  /** @type {{[K in Kind]: Record<string, ByKind[K]>}} */
  const catalogued = { op: documentData.ops, rule: documentData.rules, loss: documentData.losses };
  return getOwn(catalogued[kind], key) ?? getOwn(customEntries[kind], key);
}

/** Return a rule with parameter names adapted to an op, or undefined. @param {Op|undefined} op @param {string} key */
export function findRuleForOp(op, key) {
  const rule = findEntry("rule", key);
  return op && rule ? adaptRule(op, rule) : rule;
}

/**
 * Make a formula that the user has typed available to ``findEntry``.
 * @template {Kind} K @param {K} kind @param {ByKind[K]} entry
 */
export function addCustomEntry(kind, entry) {
  Object.assign(customEntries[kind], { [entry.key]: entry });
}

/** Remove a formula of the user that is no longer used. @param {Kind} kind @param {string} key */
export function removeCustomEntry(kind, key) {
  delete customEntries[kind][key];
}

/**
 * Make the user's formulas in the settings of a page available to ``findEntry``.
 * @param {{op: Op[], rule: Rule[], loss?: Loss[]}} entries
 */
export function addCustomEntries({ op, rule, loss = [] }) {
  op.forEach((entry) => addCustomEntry("op", entry));
  rule.forEach((entry) => addCustomEntry("rule", entry));
  loss.forEach((entry) => addCustomEntry("loss", entry));
}

/** Return whether a key is that of a formula of the user. @param {string} key */
export function isCustom(key) {
  return key.startsWith(documentData.own.trimEnd());
}

/** Return the text of a formula of the user, which is part of its key. @param {string} key */
export function getCustomText(key) {
  return key.slice(documentData.own.trimEnd().length).replace(/^ /, "");
}

/**
 * Return the user's formulas and the loss in the settings of a page.
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
 * Return why a part of the page cannot show a stochastic op or rule, or "" if none is stochastic.
 * @param {string} place name of the part of the page @param {...(Op|Rule)} entries
 */
export function explainStochasticRefusal(place, ...entries) {
  const stochastic = findStochastic(entries);
  return stochastic ? fillTemplate(documentData.drawn.fixed, { entry: stochastic.label, here: place }) : "";
}

/**
 * Return why no net can be trained with an op or rule, or "" if one can.
 * @param {Op|Rule} entry @param {boolean} [isSpiking] whether its units spike
 */
export function explainTrainingRefusal({ untrained = "", unspiking = "" }, isSpiking = false) {
  return isSpiking ? unspiking : untrained;
}

/** Return whether a backward rule is declared for an op. @param {Rule} rule @param {Op} op */
export function isSuitable(rule, op) {
  return !rule.suits.length || rule.suits.includes(op.family) || isCustom(op.key);
}
