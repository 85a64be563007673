// The parameters of an op and rules, and the name of each one's value.

import { meanApart, shownName } from "./beside.js";
import { held } from "./records.js";

/** @import { Entry, Parameter } from "./entry.js" */
/** @typedef {{name: string, parameter: Parameter}} Control */

/**
 * The control of each parameter of one entry. A name that the op has too is one parameter, as is one
 * that several rules mean alike; where they mean it differently each has its own, "rule.name".
 * @param {Entry} entry the op or one of the rules
 * @param {Entry} op
 * @param {Entry[]} rules as they stand beside the op
 * @returns {Control[]}
 */
export function controlsOf(entry, op, rules) {
  return entry.parameters.map((own) => {
    const others = rules.flatMap((rule) => rule.parameters).filter(({ name }) => name === own.name);
    const shared = op.parameters.find((parameter) => parameter.name === own.name);
    if (shared) return { name: own.name, parameter: others.reduce(narrowed, shared) };
    const alike = !own.plain && others.every((other) => likeness(other) === likeness(own));
    return { name: alike ? own.name : `${entry.key}.${shownName(own)}`, parameter: own };
  });
}

/** All that a control shows and allows of a parameter, as text. @param {Parameter} parameter */
function likeness(parameter) {
  return JSON.stringify({ ...parameter, domain: "", reach: null });
}

/**
 * The op's parameter within the domain of a rule that shares it; with the rule's bounds where its own lead out.
 * @param {Parameter} own
 * @param {Parameter} other
 * @returns {Parameter}
 */
function narrowed(own, other) {
  if (other.domain === "") return own;
  const reach = /** @type {[number, number]} */ ([
    Math.max(own.reach[0], other.reach[0]),
    Math.min(own.reach[1], other.reach[1]),
  ]);
  if (reach[0] <= own.low && own.high <= reach[1]) return { ...own, reach };
  const [low, high] = [Math.min(other.low, own.default), Math.max(other.high, own.default)];
  return { ...own, reach, low, high };
}

/** All controls of an op and rules, each once. @param {Entry} op @param {Entry[]} rules */
export function allControls(op, rules) {
  const every = [op, ...rules].flatMap((entry) => controlsOf(entry, op, rules));
  return [...new Map(every.map((control) => [control.name, control])).values()];
}

/**
 * The value of a control.
 * @param {Object<string, number>} parameters values that differ from their default, by control name
 * @param {Control} control
 */
export function valueOf(parameters, control) {
  return held(parameters, control.name) ?? control.parameter.default;
}

/**
 * Values with one of them changed. Where two must not cross, such as lo and hi, the other one gives way.
 * @param {Object<string, number>} parameters
 * @param {Control} control
 * @param {number} value
 * @param {Control[]} controls all there are
 */
export function withValue(parameters, control, value, controls) {
  const next = { ...parameters, [control.name]: value };
  for (const other of controls) {
    if (isAbove(other, control) && valueOf(next, other) < value) next[other.name] = value;
    if (isAbove(control, other) && valueOf(next, other) > value) next[other.name] = value;
  }
  return nonDefault(next, controls);
}

/**
 * Only those values that belong to a control and differ from its default.
 * @param {Object<string, number>} parameters
 * @param {Control[]} controls
 */
export function nonDefault(parameters, controls) {
  const differing = controls.filter((control) => valueOf(parameters, control) !== control.parameter.default);
  return Object.fromEntries(differing.map((control) => [control.name, valueOf(parameters, control)]));
}

/**
 * Values for another op or other rules: each parameter of each rule keeps its value, under whatever name. A name
 * that goes from an op to a rule or back takes its value along where it means the same.
 * @param {Object<string, number>} parameters
 * @param {{op: Entry, rules: Entry[]}} before
 * @param {{op: Entry, rules: Entry[]}} after
 */
export function carried(parameters, before, after) {
  const next = { ...parameters };
  for (const [one, other] of [
    [before, after],
    [after, before],
  ])
    for (const own of one.op.parameters) {
      const theirs = [other.op, ...other.rules].flatMap((entry) => entry.parameters);
      const same = theirs.find(({ name }) => name === own.name);
      if (same && !other.op.parameters.includes(same) && meanApart(own, same)) delete next[own.name];
    }
  for (const rule of after.rules) {
    const was = before.rules.find((entry) => entry.key === rule.key);
    const old = was ? controlsOf(was, before.op, before.rules) : [];
    controlsOf(rule, after.op, after.rules).forEach((control, index) => {
      const value = was && held(parameters, old[index].name);
      if (value !== undefined) next[control.name] = value;
    });
  }
  return nonDefault(next, allControls(after.op, after.rules));
}

/** @param {Control} upper @param {Control} lower */
function isAbove(upper, lower) {
  const { below } = lower.parameter;
  if (!below) return false;
  const rule = lower.name.slice(0, lower.name.length - shownName(lower.parameter).length);
  return [rule + below, below].includes(upper.name);
}
