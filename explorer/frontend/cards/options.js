// The entries of the menus of ops, grouped by family, and of backward rules, with suitable ones first.

import { getEntries, getLoss, getSamplingSettings } from "../choice/choice.js";
import { getCatalogue, isSuitable } from "../choice/entries.js";
import { drawThumbnail } from "../chart/scene/thumbnail.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Entry, Op, Rule } from "../formula/entry.js" */
/** @import { Option } from "./palette.js" */
/** Returns why a page cannot use an op or rule, or "". @typedef {(entry: Entry) => string} Refuses */

const SHOWN_TEXT = "Shown already.";
const MADE_FOR = "Made for this kind of op";
const NOT_MADE = "Made for other ops";

/**
 * Return the entries of the op menu: every op in the catalogue, then the custom formula.
 * @param {Choice} choice @param {Refuses} refuses @returns {Option[]}
 */
export function getOpOptions(choice, refuses) {
  const { ops, families, firstOwn } = getCatalogue();
  const listed = Object.values(ops).map((entry) =>
    makeOption(entry, families[entry.family], { op: entry, rule: null }, choice, refuses(entry)),
  );
  const custom = { ...firstOwn.op, label: "Own formula", purpose: "Type any function of x." };
  return [
    ...sortByGroup(listed, Object.values(families)),
    makeOption(custom, families.own, { op: firstOwn.op, rule: null }, choice),
  ];
}

/**
 * Return the entries of the rule menu: every rule in the catalogue, then the custom formula. Rules that are already
 * shown cannot be chosen again.
 * @param {Choice} choice @param {Refuses} refuses
 */
export function getRuleOptions(choice, refuses) {
  const { rules, firstOwn } = getCatalogue();
  const { op } = getEntries(choice);
  const keys = new Set(choice.rules.map((rule) => rule.key));
  const groups = [MADE_FOR, "For any op", "Your own", NOT_MADE];
  const listed = Object.values(rules).map((entry) => ({
    ...makeOption(entry, groupOf(entry, op), { op, rule: entry }, choice),
    doubt: isSuitable(entry, op) ? "" : entry.otherwise,
    barred: keys.has(entry.key) ? SHOWN_TEXT : refuses(entry),
  }));
  const first = firstOwn.rule.find((/** @type {Rule} */ entry) => !keys.has(entry.key));
  if (!first) return sortByGroup(listed, groups);
  const custom = { ...first, label: "Own formula", purpose: "Type any rule in x, y and g." };
  return sortByGroup([...listed, makeOption(custom, "Your own", { op, rule: first }, choice)], groups);
}

/** Return the heading under which the menu lists a rule. @param {Rule} rule @param {Op} op */
function groupOf(rule, op) {
  if (!rule.suits.length) return "For any op";
  return isSuitable(rule, op) ? MADE_FOR : NOT_MADE;
}

/**
 * Sort menu entries by their heading.
 * @param {Option[]} options @param {string[]} groups in order @returns {Option[]}
 */
function sortByGroup(options, groups) {
  return groups.flatMap((group) => options.filter((one) => one.group === group));
}

/**
 * Return the menu entry of an op or rule.
 * @param {Entry} entry @param {string} group @param {{op: Op, rule: Rule|null}} pair @param {Choice} choice
 * @param {string} [barred] @returns {Option}
 */
function makeOption(entry, group, pair, choice, barred = "") {
  const settings = { ...getSamplingSettings(choice), loss: getLoss(choice) };
  const parameters = pair.rule ? choice.parameters : {};
  return { entry, group, doubt: "", barred, picture: () => drawThumbnail(pair, { ...settings, parameters }) };
}
