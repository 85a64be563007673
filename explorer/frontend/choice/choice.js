// The choice: all selections of the user as plain data, and functions that return a changed copy.

import {
  listControls,
  carryValues,
  getEntryControls,
  makeLossControls,
  changeValue,
} from "../formula/controls.js";
import { listLearnable } from "../formula/contribution.js";
import { findStochastic } from "../formula/draws.js";
import { getCatalogue, findEntry, findRuleForOp } from "./entries.js";
import { parseLearning, setLearning } from "./learning.js";
import { getWordBounds } from "./view.js";
import { formatNumber, explainOutOfBounds, formatShort, clampTo } from "../formula/numbers.js";
import { getOwn } from "../formula/records.js";
import { getSampling } from "../formula/sampling.js";

/** @import { Control } from "../formula/controls.js" */
/** @import { Entry, Op, Rule } from "../formula/entry.js" */
/**
 * A chosen rule. Its slot determines its colour.
 * @typedef {{key: string, slot: number, hidden: boolean}} ChosenRule
 */
/**
 * ``parameters`` holds the values that differ from their default, by control name. ``bounds`` holds the ends of widened
 * sliders. ``learns`` is the parameter whose gradient has a panel, or "". ``slow`` is the position of slow motion and
 * ``training`` holds the settings of a run or study, both as in a link.
 * @typedef {{op: string, rules: ChosenRule[], parameters: Object<string, number>, learns: string,
 *   bounds: Object<string, [number, number]>, slow: string, training: Object<string, string>}
 *   & import("./view.js").View} Choice
 */

/** Look up the selected op and backward rules. @param {Choice} choice @returns {{op: Op, rules: Rule[]}} */
export function getEntries(choice) {
  const op = /** @type {Op} */ (findEntry("op", choice.op));
  const rules = choice.rules.map((rule) => /** @type {Rule} */ (findRuleForOp(op, rule.key)));
  return { op, rules };
}

/** Look up the loss that stochastic ops and rules use. @param {Choice} choice */
export function getLoss({ f }) {
  return /** @type {import("../formula/draws.js").Loss} */ (findEntry("loss", f));
}

/** Return whether the selected op or a rule is stochastic, so that it needs a loss. @param {Choice} choice */
export function isStochastic(choice) {
  const { op, rules } = getEntries(choice);
  return findStochastic([op, ...rules]) !== undefined;
}

/** Return the sliders of the loss's parameters, if a loss is used. @param {Choice} choice @returns {Control[]} */
export function getLossControls(choice) {
  return isStochastic(choice) ? makeLossControls(getLoss(choice).parameters) : [];
}

/** Return a copy of the settings with another loss. @param {Choice} choice @param {string} f */
export function setLoss(choice, f) {
  return carryParameters(choice, { ...choice, f });
}

/** Return the settings that affect the sampling of curves. @param {Choice} choice */
export function getSamplingSettings({ range: [start, stop], g, parameters }) {
  return { start, stop, g, parameters };
}

/** Return a key for the displayed curves. Settings with equal keys differ only in colours. @param {Choice} choice */
export function toCurvesKey(choice) {
  const keys = choice.rules.map((rule) => rule.key);
  return JSON.stringify([choice.op, keys, getSamplingSettings(choice), choice.learns, choice.f]);
}

/** Return the parameters that at least one selected rule can learn. @param {Choice} choice */
export function getLearnable(choice) {
  const { op, rules } = getEntries(choice);
  return listLearnable(op, rules);
}

/** Return the sliders of all parameters of the op, rules and loss. @param {Choice} choice */
export function getControls(choice) {
  const { op, rules } = getEntries(choice);
  return listControls(op, rules, getLossControls(choice));
}

/** Return the sliders on the card of an op or rule. @param {Choice} choice @param {Entry} entry */
export function getCardControls(choice, entry) {
  const { op, rules } = getEntries(choice);
  return getEntryControls(entry, op, rules);
}

/** Return a copy of the settings with another op. @param {Choice} choice @param {string} key */
export function setOp(choice, key) {
  return carryParameters(choice, { ...choice, op: key });
}

/** Return whether another backward rule can be selected. @param {Choice} choice */
export function canAddRule(choice) {
  return choice.rules.length < getCatalogue().limits.rules;
}

/**
 * Return a copy of the settings with one more backward rule, in the first free colour. Nothing changes if the rule is
 * selected already, or if no more rules fit.
 * @param {Choice} choice
 * @param {string} key
 */
export function addRule(choice, key) {
  if (!canAddRule(choice) || choice.rules.some((rule) => rule.key === key)) return choice;
  const usedSlots = new Set(choice.rules.map((rule) => rule.slot));
  const slot = [...Array(getCatalogue().limits.rules).keys()].find((free) => !usedSlots.has(free)) ?? 0;
  return carryParameters(choice, { ...choice, rules: [...choice.rules, { key, slot, hidden: false }] });
}

/**
 * Return a copy of the settings without a rule, unless it is the last one.
 * @param {Choice} choice @param {number} slot
 */
export function removeRule(choice, slot) {
  const rules = choice.rules.filter((rule) => rule.slot !== slot);
  return rules.length ? carryParameters(choice, { ...choice, rules }) : choice;
}

/**
 * Return a copy of the settings with one rule replaced, for example while a formula is being typed. Position and
 * colour stay the same.
 * @param {Choice} choice
 * @param {number} slot
 * @param {string} key
 */
export function replaceRule(choice, slot, key) {
  if (choice.rules.some((rule) => rule.key === key)) return choice;
  const rules = choice.rules.map((rule) => (rule.slot === slot ? { ...rule, key } : rule));
  return carryParameters(choice, { ...choice, rules });
}

/** Return a copy of the settings with one rule hidden or shown. @param {Choice} choice @param {number} slot */
export function toggleHidden(choice, slot) {
  const rules = choice.rules.map((rule) => (rule.slot === slot ? { ...rule, hidden: !rule.hidden } : rule));
  return { ...choice, rules };
}

/**
 * Return a copy of the settings with a new value of a parameter. The value is clamped to the allowed range, and the
 * slider is widened if necessary.
 * @param {Choice} choice
 * @param {Control} control
 * @param {number} value
 */
export function setParameter(choice, control, value) {
  const clamped = clampTo(value, ...control.parameter.reach);
  const parameters = changeValue(choice.parameters, control, clamped, getControls(choice));
  return widenBounds({ ...choice, parameters });
}

/** Return the ends of a parameter's slider. @param {Choice} choice @param {Control} control */
export function getBounds(choice, control) {
  return getOwn(choice.bounds, control.name) ?? [control.parameter.low, control.parameter.high];
}

/**
 * Return a copy of the settings with another range of x.
 * @param {Choice} choice
 * @param {number} start
 * @param {number} stop
 * @returns {Choice}
 */
export function setRange(choice, start, stop) {
  return { ...choice, range: normalizeRange(start, stop) };
}

/** Return a valid range of x: ascending, within limits and not empty. @param {number} start @param {number} stop */
export function normalizeRange(start, stop) {
  const { largest: max } = getSampling();
  const ends = [clampTo(start, -max, max), clampTo(stop, -max, max)].sort((one, other) => one - other);
  const isEmpty = ends[1] - ends[0] < getMinWidth(ends[0], ends[1]);
  const range = isEmpty ? [Math.max(ends[0] - 1, -max), Math.min(ends[1] + 1, max)] : ends;
  return /** @type {[number, number]} */ (range);
}

/** Return the minimum width of a range with these ends. @param {number} one @param {number} other */
function getMinWidth(one, other) {
  const { narrowest, least } = getSampling();
  return Math.max(least, narrowest * Math.max(Math.abs(one), Math.abs(other)));
}

/**
 * Explain why the range of x cannot end at a number, or return "" if it can.
 * @param {number} end @param {number} other
 */
export function explainInvalidEnd(end, other) {
  const { largest } = getSampling();
  const outOfBounds = explainOutOfBounds(end, -largest, largest);
  const minWidth = getMinWidth(end, other);
  if (outOfBounds || Math.abs(end - other) >= minWidth) return outOfBounds;
  return `${formatNumber(end)} leaves no range beside ${formatNumber(other)}: the ends must be at least ${formatShort(minWidth)} apart.`;
}

/** Return a copy of the settings with another upstream gradient. @param {Choice} choice @param {number} g */
export function setG(choice, g) {
  return { ...choice, g: clampTo(g, ...getWordBounds("g")) };
}

/**
 * Widen sliders so that they include every parameter's value. A widened slider stays wide as long as it exists.
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
 * Keep parameter values when the op, a rule or the loss changes, and drop settings that no longer apply.
 * @param {Choice} before @param {Choice} after the next choice, its parameters not yet carried over
 */
function carryParameters(before, after) {
  const parameters = carryValues(
    before.parameters,
    getEntries(before),
    getEntries(after),
    getLossControls(after),
  );
  return dropLostTrainingParameters(dropLostLearning(widenBounds({ ...after, parameters })));
}

/** Clear the selected learning parameter if no rule can train it. @param {Choice} choice @returns {Choice} */
export function dropLostLearning(choice) {
  return choice.learns && !getLearnable(choice).includes(choice.learns) ? { ...choice, learns: "" } : choice;
}

/** Remove parameters that no longer exist from the training settings. @param {Choice} choice @returns {Choice} */
function dropLostTrainingParameters(choice) {
  const { op, rules } = getEntries(choice);
  const { learn } = choice.training;
  return learn ? setLearning(choice, parseLearning(op, rules, learn)) : choice;
}
