// The choice as plain data, and its changes: functions from a choice to the next.

import { allControls, carried, controlsOf, controlsOfLoss, withValue } from "../formula/controls.js";
import { learnable } from "../formula/contribution.js";
import { firstDrawn } from "../formula/draws.js";
import { catalogue, find, findBeside } from "./entries.js";
import { learningOf, withTraining } from "./learning.js";
import { boundsOfWord } from "./view.js";
import { numberText, outside, shortText, within } from "../formula/numbers.js";
import { held } from "../formula/records.js";
import { sampling } from "../formula/sampling.js";

/** @import { Control } from "../formula/controls.js" */
/** @import { Entry, Op, Rule } from "../formula/entry.js" */
/**
 * A rule in the list. Its slot gives it its colour for as long as it is shown.
 * @typedef {{key: string, slot: number, hidden: boolean}} ChosenRule
 */
/**
 * ``parameters`` holds the values that differ from their default, by control name; ``bounds`` the ends of
 * sliders that were widened; ``learns`` the parameter whose gradient has a panel, or ""; ``slow`` what slow motion
 * shows, as a link writes it; ``training`` the settings of a run or study as a link writes them.
 * @typedef {{op: string, rules: ChosenRule[], parameters: Object<string, number>, learns: string,
 *   bounds: Object<string, [number, number]>, slow: string, training: Object<string, string>}
 *   & import("./view.js").View} Choice
 */

/** @param {Choice} choice @returns {{op: Op, rules: Rule[]}} */
export function entriesOf(choice) {
  const op = /** @type {Op} */ (find("op", choice.op));
  const rules = choice.rules.map((rule) => /** @type {Rule} */ (findBeside(op, rule.key)));
  return { op, rules };
}

/** The loss of what draws. @param {Choice} choice */
export function lossOf({ f }) {
  return /** @type {import("../formula/draws.js").Loss} */ (find("loss", f));
}

/** Whether something is drawn, so that there is a loss. @param {Choice} choice */
export function isRandom(choice) {
  const { op, rules } = entriesOf(choice);
  return firstDrawn([op, ...rules]) !== undefined;
}

/** The controls of a choice's loss. @param {Choice} choice @returns {Control[]} */
export function lossControls(choice) {
  return isRandom(choice) ? controlsOfLoss(lossOf(choice).parameters) : [];
}

/** Another loss. @param {Choice} choice @param {string} f */
export function withLoss(choice, f) {
  return exchanged(choice, { ...choice, f });
}

/** The settings by which curves are sampled. @param {Choice} choice */
export function settingsOf({ range: [start, stop], g, parameters }) {
  return { start, stop, g, parameters };
}

/** The key of a choice's curves: choices with one key differ in colours at most. @param {Choice} choice */
export function curvesKey(choice) {
  const keys = choice.rules.map((rule) => rule.key);
  return JSON.stringify([choice.op, keys, settingsOf(choice), choice.learns, choice.f]);
}

/** The parameters of a choice that can learn by one of its rules. @param {Choice} choice */
export function learnableOf(choice) {
  const { op, rules } = entriesOf(choice);
  return learnable(op, rules);
}

/** @param {Choice} choice all controls of its op and rules */
export function choiceControls(choice) {
  const { op, rules } = entriesOf(choice);
  return allControls(op, rules, lossControls(choice));
}

/** @param {Choice} choice @param {Entry} entry the controls of one card */
export function cardControls(choice, entry) {
  const { op, rules } = entriesOf(choice);
  return controlsOf(entry, op, rules);
}

/** @param {Choice} choice @param {string} key */
export function withOp(choice, key) {
  return exchanged(choice, { ...choice, op: key });
}

/** Whether one more rule can be added. @param {Choice} choice */
export function canAddRule(choice) {
  return choice.rules.length < catalogue().limits.rules;
}

/**
 * One more rule, in the first free colour; the same choice if it is there already or none can be added.
 * @param {Choice} choice
 * @param {string} key
 */
export function withRule(choice, key) {
  if (!canAddRule(choice) || choice.rules.some((rule) => rule.key === key)) return choice;
  const taken = new Set(choice.rules.map((rule) => rule.slot));
  const slot = [...Array(catalogue().limits.rules).keys()].find((free) => !taken.has(free)) ?? 0;
  return exchanged(choice, { ...choice, rules: [...choice.rules, { key, slot, hidden: false }] });
}

/** Without a rule; the last one stays. @param {Choice} choice @param {number} slot */
export function withoutRule(choice, slot) {
  const rules = choice.rules.filter((rule) => rule.slot !== slot);
  return rules.length ? exchanged(choice, { ...choice, rules }) : choice;
}

/**
 * Another rule in the place and colour of one: an own formula as it is typed.
 * @param {Choice} choice
 * @param {number} slot
 * @param {string} key
 */
export function withOtherRule(choice, slot, key) {
  if (choice.rules.some((rule) => rule.key === key)) return choice;
  const rules = choice.rules.map((rule) => (rule.slot === slot ? { ...rule, key } : rule));
  return exchanged(choice, { ...choice, rules });
}

/** Hide a rule that is shown, and the other way round. @param {Choice} choice @param {number} slot */
export function withHiding(choice, slot) {
  const rules = choice.rules.map((rule) => (rule.slot === slot ? { ...rule, hidden: !rule.hidden } : rule));
  return { ...choice, rules };
}

/**
 * Another value of a parameter, within what a link may hold; a slider it lies beyond is widened.
 * @param {Choice} choice
 * @param {Control} control
 * @param {number} value
 */
export function withParameter(choice, control, value) {
  const allowed = within(value, ...control.parameter.reach);
  const parameters = withValue(choice.parameters, control, allowed, choiceControls(choice));
  return widened({ ...choice, parameters });
}

/** The ends of a control's slider. @param {Choice} choice @param {Control} control */
export function boundsOf(choice, control) {
  return held(choice.bounds, control.name) ?? [control.parameter.low, control.parameter.high];
}

/**
 * Another range: its ends in order, apart, and within the limit.
 * @param {Choice} choice
 * @param {number} start
 * @param {number} stop
 * @returns {Choice}
 */
export function withRange(choice, start, stop) {
  return { ...choice, range: tidyRange(start, stop) };
}

/** Two ends in order, apart, and within the limit. @param {number} start @param {number} stop */
export function tidyRange(start, stop) {
  const { largest: most } = sampling();
  const ends = [within(start, -most, most), within(stop, -most, most)].sort((one, other) => one - other);
  const isEmpty = ends[1] - ends[0] < leastBetween(ends[0], ends[1]);
  const range = isEmpty ? [Math.max(ends[0] - 1, -most), Math.min(ends[1] + 1, most)] : ends;
  return /** @type {[number, number]} */ (range);
}

/** How far apart two ends must be. @param {number} one @param {number} other */
function leastBetween(one, other) {
  const { narrowest, least } = sampling();
  return Math.max(least, narrowest * Math.max(Math.abs(one), Math.abs(other)));
}

/** The reason why a number may not be an end beside another one, "" where it may. @param {number} end @param {number} other */
export function wrongEnd(end, other) {
  const { largest } = sampling();
  const beyond = outside(end, -largest, largest);
  const least = leastBetween(end, other);
  if (beyond || Math.abs(end - other) >= least) return beyond;
  return `${numberText(end)} leaves no range beside ${numberText(other)}: the ends must be at least ${shortText(least)} apart.`;
}

/** @param {Choice} choice @param {number} g */
export function withG(choice, g) {
  return { ...choice, g: within(g, ...boundsOfWord("g")) };
}

/**
 * Bounds that hold every value: those that were widened stay so as long as their control does.
 * @param {Choice} choice
 */
export function widened(choice) {
  /** @type {Object<string, [number, number]>} */
  const bounds = {};
  for (const { name, parameter } of choiceControls(choice)) {
    const known = held(choice.bounds, name);
    const [low, high] = known ?? [parameter.low, parameter.high];
    const value = held(choice.parameters, name) ?? parameter.default;
    if (value < low || value > high) bounds[name] = [Math.min(low, value), Math.max(high, value)];
    else if (known) bounds[name] = known;
  }
  return { ...choice, bounds };
}

/** @param {Choice} before @param {Choice} after the next one, its parameters not yet carried over */
function exchanged(before, after) {
  const parameters = carried(before.parameters, entriesOf(before), entriesOf(after), lossControls(after));
  return stillTrained(stillLearning(widened({ ...after, parameters })));
}

/** Without a learning parameter that is gone. @param {Choice} choice @returns {Choice} */
export function stillLearning(choice) {
  return choice.learns && !learnableOf(choice).includes(choice.learns) ? { ...choice, learns: "" } : choice;
}

/** Without parameters of the training's ``learn`` that are gone. @param {Choice} choice @returns {Choice} */
function stillTrained(choice) {
  const { op, rules } = entriesOf(choice);
  const { learn } = choice.training;
  return learn ? withTraining(choice, learningOf(op, rules, learn)) : choice;
}
