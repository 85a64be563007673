// The user's choice: op, backward rules, parameters and all other settings of a page as plain data, and functions that
// return a changed copy.

import * as controls from "../formula/controls.js";
import { listLearnable } from "../formula/contribution.js";
import { findStochastic } from "../formula/draws.js";
import { getCatalogue, findEntry, findRuleForOp } from "./entries.js";
import { parseLearning, setLearning } from "./learning.js";
import { getQueryBounds } from "./view.js";
import { formatNumber, explainOutOfBounds, formatShort, clampTo, writeMinus } from "../formula/numbers.js";
import { getOwn } from "../formula/records.js";
import { getSampling } from "../formula/sampling.js";

/** @import { Control } from "../formula/controls.js" */
/** @import { Entry, Op, Rule } from "../formula/entry.js" */
/**
 * A backward rule on the page. ``slot``: its index in the colour palette.
 * @typedef {{key: string, slot: number, hidden: boolean}} ChosenRule
 */
/**
 * All settings of a page. ``parameters``: values other than the default, by control name; ``bounds``: ends of widened
 * sliders; ``learns``: the parameter whose gradient has a panel, or ""; ``slow``: the position of slow motion;
 * ``training``: settings of a training run or study; both as text from a link.
 * @typedef {{op: string, rules: ChosenRule[], parameters: Object<string, number>, learns: string, bounds:
 *   Object<string, [number, number]>, slow: string, training: Object<string, string>} & import("./view.js").View}
 *   Choice
 */

/** Return the definitions of the op and the rules. @param {Choice} choice @returns {{op: Op, rules: Rule[]}} */
export function getEntries(choice) {
  const op = /** @type {Op} */ (findEntry("op", choice.op));
  return { op, rules: choice.rules.map((rule) => /** @type {Rule} */ (findRuleForOp(op, rule.key))) };
}

/** Return the selected loss, a function of a stochastic op's output. @param {Choice} choice */
export function getLoss({ f }) {
  return /** @type {import("../formula/draws.js").Loss} */ (findEntry("loss", f));
}

/** Return whether the op or a rule is stochastic. Only then is a loss needed. @param {Choice} choice */
export function isStochastic(choice) {
  const { op, rules } = getEntries(choice);
  return findStochastic([op, ...rules]) !== undefined;
}

/** Return the controls of the loss, or [] if no loss is needed. @param {Choice} choice @returns {Control[]} */
export function getLossControls(choice) {
  return isStochastic(choice) ? controls.makeLossControls(getLoss(choice).parameters) : [];
}

/** Return a copy of the settings with another loss. @param {Choice} choice @param {string} f a formula of y */
export function setLoss(choice, f) {
  return carryParameters(choice, { ...choice, f });
}

/** Return the settings on which the sampled curves depend. @param {Choice} choice */
export function getSamplingSettings({ range: [start, stop], g, parameters }) {
  return { start, stop, g, parameters };
}

/** Return a key that is equal for settings with the same curves. Colours do not matter. @param {Choice} choice */
export function toCurvesKey(choice) {
  const keys = choice.rules.map((rule) => rule.key);
  return JSON.stringify([choice.op, keys, getSamplingSettings(choice), choice.learns, choice.f]);
}

/** Return the names of the parameters that at least one selected rule can train. @param {Choice} choice */
export function getLearnable(choice) {
  const { op, rules } = getEntries(choice);
  return listLearnable(op, rules);
}

/** Return the controls of all parameters of the op, rules and loss. @param {Choice} choice */
export function getControls(choice) {
  const { op, rules } = getEntries(choice);
  return controls.listControls(op, rules, getLossControls(choice));
}

/** Return the controls on the card of an op or rule. @param {Choice} choice @param {Entry} entry */
export function getCardControls(choice, entry) {
  const { op, rules } = getEntries(choice);
  return controls.getEntryControls(entry, op, rules);
}

/** Return a copy of the settings with another op. @param {Choice} choice @param {string} key the op's key */
export function setOp(choice, key) {
  return carryParameters(choice, { ...choice, op: key });
}

/** Return whether the page has room for another backward rule. @param {Choice} choice */
export function canAddRule(choice) {
  return choice.rules.length < getCatalogue().limits.rules;
}

/**
 * Return a copy of the settings with one more backward rule, in the first free colour. If the rule is selected already
 * or the page is full, the settings are returned unchanged.
 * @param {Choice} choice @param {string} key the rule's key
 */
export function addRule(choice, key) {
  if (!canAddRule(choice) || choice.rules.some((rule) => rule.key === key)) return choice;
  const usedSlots = new Set(choice.rules.map((rule) => rule.slot));
  const slot = [...Array(getCatalogue().limits.rules).keys()].find((free) => !usedSlots.has(free)) ?? 0;
  return carryParameters(choice, { ...choice, rules: [...choice.rules, { key, slot, hidden: false }] });
}

/**
 * Return a copy of the settings with another op and one more rule. On a full page it replaces the last rule.
 * @param {Choice} choice @param {string} op @param {string} rule their keys @param {Object<string, number>} values
 *   values of the op's parameters, except those that the present op has too
 */
export function addFunction(choice, op, rule, values) {
  const room = canAddRule(choice) ? choice : removeRule(choice, choice.rules[choice.rules.length - 1].slot);
  const next = addRule(setOp(room, op), rule);
  const present = getCardControls(choice, getEntries(choice).op);
  const kept = present.map((control) => [control.name, controls.getControlValue(choice.parameters, control)]);
  const parameters = { ...next.parameters, ...values, ...Object.fromEntries(kept) };
  return widenBounds({ ...next, parameters: controls.dropDefaults(parameters, getControls(next)) });
}

/**
 * Return a copy of the settings without a rule, unless it is the last one.
 * @param {Choice} choice @param {number} slot the rule's slot
 */
export function removeRule(choice, slot) {
  const rules = choice.rules.filter((rule) => rule.slot !== slot);
  return rules.length ? carryParameters(choice, { ...choice, rules }) : choice;
}

/**
 * Return a copy of the settings with one rule replaced in its position and colour. If the new rule is selected already,
 * the settings are returned unchanged.
 * @param {Choice} choice @param {number} slot the slot of the old rule @param {string} key the key of the new rule
 */
export function replaceRule(choice, slot, key) {
  if (choice.rules.some((rule) => rule.key === key)) return choice;
  const rules = choice.rules.map((rule) => (rule.slot === slot ? { ...rule, key } : rule));
  return carryParameters(choice, { ...choice, rules });
}

/**
 * Return a copy of the settings with the curve of a rule hidden or shown.
 * @param {Choice} choice @param {number} slot the rule's slot
 */
export function toggleHidden(choice, slot) {
  const rules = choice.rules.map((rule) => (rule.slot === slot ? { ...rule, hidden: !rule.hidden } : rule));
  return { ...choice, rules };
}

/**
 * Return a copy of the settings with a new value of a parameter. The value is clamped to the allowed range, and the
 * slider is widened if necessary.
 * @param {Choice} choice @param {Control} control @param {number} value
 */
export function setParameter(choice, control, value) {
  const clamped = clampTo(value, ...control.parameter.reach);
  const parameters = controls.changeValue(choice.parameters, control, clamped, getControls(choice));
  return widenBounds({ ...choice, parameters });
}

/** Return the ends of the slider of a parameter. @param {Choice} choice @param {Control} control */
export function getBounds(choice, control) {
  return getOwn(choice.bounds, control.name) ?? [control.parameter.low, control.parameter.high];
}

/**
 * Return a copy of the settings with another range of x.
 * @param {Choice} choice @param {number} start @param {number} stop @returns {Choice}
 */
export function setRange(choice, start, stop) {
  return { ...choice, range: normalizeRange(start, stop) };
}

/**
 * Return a valid range of x: ascending, within limits, and widened if too narrow.
 * @param {number} start @param {number} stop
 */
export function normalizeRange(start, stop) {
  const { largest: max } = getSampling();
  const ends = [clampTo(start, -max, max), clampTo(stop, -max, max)].sort((one, other) => one - other);
  const isEmpty = ends[1] - ends[0] < getMinWidth(ends[0], ends[1]);
  const range = isEmpty ? [Math.max(ends[0] - 1, -max), Math.min(ends[1] + 1, max)] : ends;
  return /** @type {[number, number]} */ (range);
}

/** @param {number} one @param {number} other */
function getMinWidth(one, other) {
  const { narrowest, least } = getSampling();
  return Math.max(least, narrowest * Math.max(Math.abs(one), Math.abs(other)));
}

/**
 * Return an error message if a range of x cannot end at a number, otherwise "".
 * @param {number} end the number @param {number} other the other end of the range
 */
export function explainInvalidEnd(end, other) {
  const { largest } = getSampling();
  const outOfBounds = explainOutOfBounds(end, -largest, largest);
  const minWidth = getMinWidth(end, other);
  if (outOfBounds || Math.abs(end - other) >= minWidth) return outOfBounds;
  const [one, two] = [end, other].map((each) => writeMinus(formatNumber(each)));
  return `${one} makes the range too narrow: its other end is ${two}, and both must be at least ${formatShort(minWidth)} apart.`;
}

/** Return a copy of the settings with another upstream gradient. @param {Choice} choice @param {number} g */
export function setG(choice, g) {
  return { ...choice, g: clampTo(g, ...getQueryBounds("g")) };
}

/**
 * Return settings in which every slider includes the value of its parameter. A widened slider stays wide while it
 * exists.
 * @param {Choice} choice
 */
export function widenBounds(choice) {
  /** @type {Object<string, [number, number]>} */
  const bounds = {};
  for (const { name, parameter } of getControls(choice)) {
    const widened = getOwn(choice.bounds, name);
    const [low, high] = widened ?? [parameter.low, parameter.high];
    const value = getOwn(choice.parameters, name) ?? parameter.default;
    if (value < low || value > high) bounds[name] = [Math.min(low, value), Math.max(high, value)];
    else if (widened) bounds[name] = widened;
  }
  return { ...choice, bounds };
}

/**
 * Return settings after a change of the op, a rule or the loss, with the values of all parameters that still apply.
 * @param {Choice} before @param {Choice} after the new settings with the old values
 */
function carryParameters(before, after) {
  const parameters = controls.carryValues(
    before.parameters,
    getEntries(before),
    getEntries(after),
    getLossControls(after),
  );
  const next = dropLostLearning(widenBounds({ ...after, parameters }));
  const { op, rules } = getEntries(next);
  const { learn } = next.training;
  return learn ? setLearning(next, parseLearning(op, rules, learn)) : next;
}

/**
 * Return settings without the gradient panel of a parameter that no rule can train.
 * @param {Choice} choice @returns {Choice}
 */
export function dropLostLearning(choice) {
  return choice.learns && !getLearnable(choice).includes(choice.learns) ? { ...choice, learns: "" } : choice;
}
