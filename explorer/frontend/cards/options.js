// The options of the palettes: ops by family; rules with those that suit the op first.

import { getEntries, getLoss, getSamplingSettings } from "../choice/choice.js";
import { getCatalogue, isSuitable } from "../choice/entries.js";
import { thumbnail } from "../chart/scene/thumbnail.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Entry, Op, Rule } from "../formula/entry.js" */
/** @import { Option } from "./palette.js" */
/** Why a page cannot take an op or rule, or "". @typedef {(entry: Entry) => string} Refuses */

const TAKEN = "Shown already.";
const MADE_FOR = "Made for this kind of op";
const NOT_MADE = "Made for other ops";

/**
 * Every op.
 * @param {Choice} choice
 * @param {Refuses} refuses
 * @returns {Option[]}
 */
export function opOptions(choice, refuses) {
  const { ops, families, firstOwn } = getCatalogue();
  const listed = Object.values(ops).map((entry) =>
    option(entry, families[entry.family], { op: entry, rule: null }, choice, refuses(entry)),
  );
  const own = { ...firstOwn.op, label: "Own formula", purpose: "Type any function of x." };
  return [
    ...byGroup(listed, Object.values(families)),
    option(own, families.own, { op: firstOwn.op, rule: null }, choice),
  ];
}

/** Every rule; those that are shown already cannot be chosen again. @param {Choice} choice @param {Refuses} refuses */
export function ruleOptions(choice, refuses) {
  const { rules, firstOwn } = getCatalogue();
  const { op } = getEntries(choice);
  const chosen = new Set(choice.rules.map((rule) => rule.key));
  const groups = [MADE_FOR, "For any op", "Your own", NOT_MADE];
  const listed = Object.values(rules).map((entry) => ({
    ...option(entry, groupOf(entry, op), { op, rule: entry }, choice),
    doubt: isSuitable(entry, op) ? "" : entry.otherwise,
    barred: chosen.has(entry.key) ? TAKEN : refuses(entry),
  }));
  const first = firstOwn.rule.find((/** @type {Rule} */ entry) => !chosen.has(entry.key));
  if (!first) return byGroup(listed, groups);
  const own = { ...first, label: "Own formula", purpose: "Type any rule in x, y and g." };
  return byGroup([...listed, option(own, "Your own", { op, rule: first }, choice)], groups);
}

/** @param {Rule} rule @param {Op} op */
function groupOf(rule, op) {
  if (!rule.suits.length) return "For any op";
  return isSuitable(rule, op) ? MADE_FOR : NOT_MADE;
}

/** @param {Option[]} options @param {string[]} groups in their order @returns {Option[]} */
function byGroup(options, groups) {
  return groups.flatMap((group) => options.filter((one) => one.group === group));
}

/**
 * @param {Entry} entry
 * @param {string} group
 * @param {{op: Op, rule: Rule|null}} pair
 * @param {Choice} choice
 * @param {string} [barred]
 * @returns {Option}
 */
function option(entry, group, pair, choice, barred = "") {
  const settings = { ...getSamplingSettings(choice), loss: getLoss(choice) };
  const parameters = pair.rule ? choice.parameters : {};
  return { entry, group, doubt: "", barred, picture: () => thumbnail(pair, { ...settings, parameters }) };
}
