// Options of the pickers: ops by family, and backward rules with general and suitable ones first.

import { addFunction, getEntries, getLoss, getSamplingSettings } from "../choice/choice.js";
import { findEntry, getCatalogue, isCustom, isSuitable } from "../choice/entries.js";
import { parseMessage } from "../choice/message.js";
import { drawThumbnail } from "../chart/scene/thumbnail.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Op, Rule } from "../formula/entry.js" */
/** @import { Option, Source } from "./picker.js" */
/**
 * An autograd Function in pasted code. ``op``, ``rule``: its formulas; ``learned``: the formulas of its parameters'
 * gradients, by name; ``notes``: omissions; ``choice``: settings that plot it; ``message``: why it cannot be plotted.
 * @typedef {{name: string, line: number, op?: string, rule?: string, learned?: Object<string, string>, notes?:
 *   string[], choice?: *, message?: string}} Reading
 */
/**
 * A function that returns why an op or rule cannot be used here, or "".
 * @typedef {(entry: Op|Rule) => string} Refuses
 */
/** The kind of options in a picker. @typedef {"op"|"rule"} Kind */

const SHOWN_TEXT = "Shown already.";
const MADE_FOR = "Made for this kind of op";
const NOT_MADE = "Made for other ops";
const EMPTY_OPTION = { entry: null, group: "", choice: null, lines: [], notes: [], picture: null };

/**
 * Return the options of a picker: from the catalogue, typed formulas and pasted code. Rules that are on the page cannot
 * be chosen again.
 * @param {Kind} kind @param {Choice} choice @param {Refuses} refuses @returns {Source}
 */
export function getSource(kind, choice, refuses) {
  const { ops, rules, families } = getCatalogue();
  const { op } = getEntries(choice);
  const keys = new Set(choice.rules.map((rule) => rule.key));
  const makeOp = (/** @type {Op} */ entry) =>
    makeOption(entry, families[entry.family], { op: entry, rule: null }, choice, refuses(entry));
  const makeRule = (/** @type {Rule} */ entry) => ({
    ...makeOption(entry, getGroupName(entry, op), { op, rule: entry }, choice, refuses(entry)),
    ...(keys.has(entry.key) && { barred: SHOWN_TEXT }),
  });
  const isOp = kind === "op";
  const listed = isOp ? Object.values(ops).map(makeOp) : Object.values(rules).map(makeRule);
  const groups = isOp ? Object.values(families) : ["For any op", MADE_FOR, NOT_MADE];
  return {
    listed: groups.flatMap((group) => listed.filter((one) => one.group === group)),
    make: (entry) => (isOp ? makeOp(entry) : makeRule(entry)),
    find: (readings) => readings.flatMap((reading) => makeFindings(kind, reading, choice)),
  };
}

/** @param {Rule} rule @param {Op} op */
function getGroupName(rule, op) {
  if (!rule.suits.length) return "For any op";
  const families = isCustom(op.key) ? listFamilies(op) : [op.family];
  return rule.suits.some((family) => families.includes(family)) ? MADE_FOR : NOT_MADE;
}

/** Return the families of ops that have a function in common with an own op. @param {Op} op */
function listFamilies(op) {
  /** @param {Op} one @returns {string[]} */
  const list = ({ tree }) => JSON.stringify(tree).match(/"call","\w+"/g) ?? [];
  const isLike = (/** @type {Op} */ each) => list(each).some((call) => list(op).includes(call));
  return Object.values(getCatalogue().ops).flatMap((each) => (isLike(each) ? [each.family] : []));
}

/**
 * @param {Op|Rule} entry @param {string} group @param {{op: Op, rule: Rule|null}} pair op and rule of its picture
 * @param {Choice} choice @param {string} barred why it cannot be chosen, or "" @returns {Option}
 */
function makeOption(entry, group, pair, choice, barred) {
  const { key, label, formula, purpose } = entry;
  const settings = { ...getSamplingSettings(choice), loss: getLoss(choice) };
  const parameters = pair.rule ? choice.parameters : {};
  const doubt = pair.rule && !isSuitable(pair.rule, pair.op) ? pair.rule.otherwise : "";
  return {
    ...{ entry, group, label, barred, choice: null },
    lines: formula === label ? [] : [formula ?? "torch's own"],
    notes: isCustom(key) ? [] : [purpose, doubt],
    picture: () =>
      drawThumbnail({ op: pair.op, rules: pair.rule ? [pair.rule] : [] }, { ...settings, parameters, g: 1 }),
  };
}

/**
 * Return the options of an autograd Function in pasted code. A picker of rules takes its forward as the op too, or its
 * backward alone; only the latter, without settings, if the page has that op.
 * @param {Kind} kind @param {Reading} reading @param {Choice} current @returns {Option[]}
 */
function makeFindings(kind, reading, current) {
  const { op, rule, learned = {}, notes = [], message = "" } = reading;
  const label = `${reading.name}, line ${reading.line}`;
  if (!reading.choice) return [{ ...EMPTY_OPTION, label, barred: message }];
  const found = parseMessage(reading.choice);
  const pair = { op: getEntries(found).op, rule: /** @type {Rule} */ (getEntries(found).rules.at(-1)) };
  Object.assign(findEntry("rule", pair.rule.key) ?? {}, { codeNotes: notes });
  const choice = addFunction(current, found.op, pair.rule.key, found.parameters);
  const replaced = getEntries(current).rules.find(({ key }) => !choice.rules.some((one) => one.key === key));
  const place = replaced ? [`It takes the place of ${replaced.label}.`] : [];
  const sums = Object.entries(learned).map(([of, sum]) => `gradient for ${of} = ${sum}`);
  const whole = {
    ...makeOption(pair[kind], "", pair, choice, ""),
    ...{ label, choice, notes: [...notes, ...place], lines: [`y = ${op}`, `gradient = ${rule}`, ...sums] },
  };
  if (kind === "op") return [whole];
  const backward = { ...whole, choice: null, notes };
  if (choice.op === current.op) return [backward];
  return [
    { ...whole, notes: [...whole.notes, "Its forward becomes the op."] },
    { ...backward, notes: [...notes, "Only its backward is taken: the op stays."] },
  ];
}
