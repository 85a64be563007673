// The parameters of an op and rules, and the name of each one's value.

import { held } from "./records.js";

/** @import { Entry, Parameter } from "./entry.js" */
/** @typedef {{name: string, parameter: Parameter}} Control */

/**
 * The control of each parameter of one entry. A name that the op has too is one parameter, as is one
 * that several rules mean alike; where they mean it differently each has its own, "rule.name".
 * @param {Entry} entry the op or one of the rules
 * @param {Entry} op
 * @param {Entry[]} rules
 * @returns {Control[]}
 */
export function controlsOf(entry, op, rules) {
  return entry.parameters.map((own) => {
    const shared = op.parameters.find((parameter) => parameter.name === own.name);
    if (shared) return { name: own.name, parameter: shared };
    const others = rules.flatMap((rule) => rule.parameters).filter(({ name }) => name === own.name);
    const alike = others.every((other) => JSON.stringify(other) === JSON.stringify(own));
    return { name: alike ? own.name : `${entry.key}.${own.name}`, parameter: own };
  });
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
 * Values for another op or other rules: each parameter of each rule keeps its value, under whatever name.
 * @param {Object<string, number>} parameters
 * @param {{op: Entry, rules: Entry[]}} before
 * @param {{op: Entry, rules: Entry[]}} after
 */
export function carried(parameters, before, after) {
  const next = { ...parameters };
  for (const rule of after.rules.filter((entry) => before.rules.some((other) => other.key === entry.key))) {
    const old = controlsOf(rule, before.op, before.rules);
    controlsOf(rule, after.op, after.rules).forEach((control, index) => {
      const value = held(parameters, old[index].name);
      if (value !== undefined) next[control.name] = value;
    });
  }
  return nonDefault(next, allControls(after.op, after.rules));
}

/** @param {Control} upper @param {Control} lower */
function isAbove(upper, lower) {
  const { name, below } = lower.parameter;
  if (!below) return false;
  return [lower.name.slice(0, lower.name.length - name.length) + below, below].includes(upper.name);
}
