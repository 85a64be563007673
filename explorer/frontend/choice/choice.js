// The choice as plain data, and functions that return a changed copy of it.

import { listControls, carryValues, controlsOf, makeLossControls, changeValue } from "../formula/controls.js";
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
 * ``parameters`` holds values other than the default by control name, ``bounds`` the ends of widened sliders,
 * ``learns`` the parameter whose gradient has a panel, or "", ``slow`` the position of slow motion and ``training``
 * the settings of a run or study, both as in a link.
 * @typedef {{op: string, rules: ChosenRule[], parameters: Object<string, number>, learns: string,
 *   bounds: Object<string, [number, number]>, slow: string, training: Object<string, string>}
 *   & import("./view.js").View} Choice
 */

/** Return the op and rules of a choice. @param {Choice} choice @returns {{op: Op, rules: Rule[]}} */
export function getEntries(choice) {
  const op = /** @type {Op} */ (findEntry("op", choice.op));
  const rules = choice.rules.map((rule) => /** @type {Rule} */ (findRuleForOp(op, rule.key)));
  return { op, rules };
}

/** Return the loss for stochastic ops and rules. @param {Choice} choice */
export function getLoss({ f }) {
  return /** @type {import("../formula/draws.js").Loss} */ (findEntry("loss", f));
}

/** Return whether an op or rule is stochastic, so that the loss matters. @param {Choice} choice */
export function isStochastic(choice) {
  const { op, rules } = getEntries(choice);
  return findStochastic([op, ...rules]) !== undefined;
}

/** Return the controls of a choice's loss. @param {Choice} choice @returns {Control[]} */
export function getLossControls(choice) {
  return isStochastic(choice) ? makeLossControls(getLoss(choice).parameters) : [];
}

/** Replace the loss. @param {Choice} choice @param {string} f */
export function setLoss(choice, f) {
  return carryParameters(choice, { ...choice, f });
}

/** Return the settings that determine how curves are sampled. @param {Choice} choice */
export function getSamplingSettings({ range: [start, stop], g, parameters }) {
  return { start, stop, g, parameters };
}

/** Return a key of a choice's curves: choices with the same key differ in colours at most. @param {Choice} choice */
export function toCurvesKey(choice) {
  const keys = choice.rules.map((rule) => rule.key);
  return JSON.stringify([choice.op, keys, getSamplingSettings(choice), choice.learns, choice.f]);
}

/** Return the parameters of a choice that can learn by one of its rules. @param {Choice} choice */
export function getLearnable(choice) {
  const { op, rules } = getEntries(choice);
  return listLearnable(op, rules);
}

/** Return all controls of a choice's op, rules and loss. @param {Choice} choice */
export function getControls(choice) {
  const { op, rules } = getEntries(choice);
  return listControls(op, rules, getLossControls(choice));
}

/** Return the controls on the card of an op or rule. @param {Choice} choice @param {Entry} entry */
export function getCardControls(choice, entry) {
  const { op, rules } = getEntries(choice);
  return controlsOf(entry, op, rules);
}

/** Replace the op. @param {Choice} choice @param {string} key */
export function setOp(choice, key) {
  return carryParameters(choice, { ...choice, op: key });
}

/** Return whether another rule can be added. @param {Choice} choice */
export function canAddRule(choice) {
  return choice.rules.length < getCatalogue().limits.rules;
}

/**
 * Add a rule in the first free colour; return the same choice if it is included already or the list is full.
 * @param {Choice} choice
 * @param {string} key
 */
export function addRule(choice, key) {
  if (!canAddRule(choice) || choice.rules.some((rule) => rule.key === key)) return choice;
  const usedSlots = new Set(choice.rules.map((rule) => rule.slot));
  const slot = [...Array(getCatalogue().limits.rules).keys()].find((free) => !usedSlots.has(free)) ?? 0;
  return carryParameters(choice, { ...choice, rules: [...choice.rules, { key, slot, hidden: false }] });
}

/** Remove a rule, unless it is the last one. @param {Choice} choice @param {number} slot */
export function removeRule(choice, slot) {
  const rules = choice.rules.filter((rule) => rule.slot !== slot);
  return rules.length ? carryParameters(choice, { ...choice, rules }) : choice;
}

/**
 * Replace a rule and keep its position and colour, say while a custom formula is being typed.
 * @param {Choice} choice
 * @param {number} slot
 * @param {string} key
 */
export function replaceRule(choice, slot, key) {
  if (choice.rules.some((rule) => rule.key === key)) return choice;
  const rules = choice.rules.map((rule) => (rule.slot === slot ? { ...rule, key } : rule));
  return carryParameters(choice, { ...choice, rules });
}

/** Hide or show a rule. @param {Choice} choice @param {number} slot */
export function toggleHidden(choice, slot) {
  const rules = choice.rules.map((rule) => (rule.slot === slot ? { ...rule, hidden: !rule.hidden } : rule));
  return { ...choice, rules };
}

/**
 * Set a parameter, clamped to its allowed range, and widen its slider if necessary.
 * @param {Choice} choice
 * @param {Control} control
 * @param {number} value
 */
export function setParameter(choice, control, value) {
  const clamped = clampTo(value, ...control.parameter.reach);
  const parameters = changeValue(choice.parameters, control, clamped, getControls(choice));
  return widenBounds({ ...choice, parameters });
}

/** Return the ends of a control's slider. @param {Choice} choice @param {Control} control */
export function getBounds(choice, control) {
  return getOwn(choice.bounds, control.name) ?? [control.parameter.low, control.parameter.high];
}

/**
 * Set the range of x, after normalization.
 * @param {Choice} choice
 * @param {number} start
 * @param {number} stop
 * @returns {Choice}
 */
export function setRange(choice, start, stop) {
  return { ...choice, range: normalizeRange(start, stop) };
}

/** Return a range in ascending order, within the limits and not empty. @param {number} start @param {number} stop */
export function normalizeRange(start, stop) {
  const { largest: max } = getSampling();
  const ends = [clampTo(start, -max, max), clampTo(stop, -max, max)].sort((one, other) => one - other);
  const isEmpty = ends[1] - ends[0] < getMinWidth(ends[0], ends[1]);
  const range = isEmpty ? [Math.max(ends[0] - 1, -max), Math.min(ends[1] + 1, max)] : ends;
  return /** @type {[number, number]} */ (range);
}

/** Return the minimum distance between two ends of a range. @param {number} one @param {number} other */
function getMinWidth(one, other) {
  const { narrowest, least } = getSampling();
  return Math.max(least, narrowest * Math.max(Math.abs(one), Math.abs(other)));
}

/** Return why a number cannot be an end next to another end, or "". @param {number} end @param {number} other */
export function explainInvalidEnd(end, other) {
  const { largest } = getSampling();
  const outOfBounds = explainOutOfBounds(end, -largest, largest);
  const minWidth = getMinWidth(end, other);
  if (outOfBounds || Math.abs(end - other) >= minWidth) return outOfBounds;
  return `${formatNumber(end)} leaves no range beside ${formatNumber(other)}: the ends must be at least ${formatShort(minWidth)} apart.`;
}

/** Set the upstream gradient, clamped to its bounds. @param {Choice} choice @param {number} g */
export function setG(choice, g) {
  return { ...choice, g: clampTo(g, ...getWordBounds("g")) };
}

/**
 * Widen slider bounds to include every value; widened bounds persist as long as their control.
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
 * Carry parameters over to a choice with other entries, and drop settings that no longer apply.
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

/** Clear the learning parameter if no rule can train it. @param {Choice} choice @returns {Choice} */
export function dropLostLearning(choice) {
  return choice.learns && !getLearnable(choice).includes(choice.learns) ? { ...choice, learns: "" } : choice;
}

/** Remove parameters that no longer exist from the training's ``learn``. @param {Choice} choice @returns {Choice} */
function dropLostTrainingParameters(choice) {
  const { op, rules } = getEntries(choice);
  const { learn } = choice.training;
  return learn ? setLearning(choice, parseLearning(op, rules, learn)) : choice;
}
