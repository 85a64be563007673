/**
 * The parameters of an op and rules, and the name of each one's value. Beside an op that has its name in another
 * meaning a rule's parameter has another name in its trees, as in explorer/catalogue/beside.py; the texts for people
 * keep the rule's own name, as its card does.
 */

import { held } from "./records.js";

/** @import { Entry, Op, Parameter, Rule } from "./entry.js" */
/** @typedef {{name: string, parameter: Parameter}} Control */

const APART = "_rule"; // behind the name of a rule's parameter that the op has in another meaning

/** @type {WeakMap<Rule, Map<string, Rule>>} */
const renamed = new WeakMap();

/**
 * Whether the op's and the rule's parameter of one name are two: they stand for different quantities, or the
 * op's default is a value at which the rule means nothing.
 * @param {Parameter} own of the op
 * @param {Parameter} other of the rule
 */
export function meanApart(own, other) {
  const differ = own.quantity !== "" && other.quantity !== "" && own.quantity !== other.quantity;
  const [low, high] = other.reach;
  return differ || (other.domain !== "" && !(low <= own.default && own.default <= high));
}

/**
 * The rule beside an op, one and the same object for the same two; the rule itself where nothing is renamed.
 * @param {Op} op
 * @param {Rule} rule
 * @returns {Rule}
 */
export function beside(op, rule) {
  const names = rule.parameters
    .filter((other) => op.parameters.some((own) => own.name === other.name && meanApart(own, other)))
    .map(({ name }) => name);
  if (!names.length) return rule;
  const known = renamed.get(rule) ?? new Map();
  renamed.set(rule, known);
  const key = names.join();
  if (!known.has(key)) known.set(key, withNames(rule, names));
  return known.get(key);
}

/** The name for people: that in the entry's own formulas. @param {Parameter} parameter */
export function shownName({ plain, name }) {
  return plain || name;
}

/** @param {Rule} rule @param {string[]} names @returns {Rule} */
function withNames(rule, names) {
  const nameOf = (/** @type {string} */ name) => (names.includes(name) ? name + APART : name);

  /** The same with other names in every tree. @param {*} part @returns {*} */
  function changed(part) {
    if (Array.isArray(part)) return part[0] === "name" ? ["name", nameOf(part[1])] : part.map(changed);
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, changed(value)]));
  }

  const { tree, kinks, pieces, slopes, learned } = rule;
  const parameters = rule.parameters.map((old) => ({
    ...old,
    name: nameOf(old.name),
    below: old.below && nameOf(old.below),
    plain: names.includes(old.name) ? old.name : "",
  }));
  return {
    ...rule,
    ...changed({ tree, kinks, pieces, slopes }),
    parameters,
    movable: rule.movable.map(({ name, sign }) => ({ name: nameOf(name), sign })),
    learned: Object.fromEntries(Object.entries(learned).map(([name, each]) => [nameOf(name), changed(each)])),
  };
}

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

/** The controls of a loss: what an op or a rule has too is one with theirs. @param {Parameter[]} parameters @returns {Control[]} */
export function controlsOfLoss(parameters) {
  return parameters.map((parameter) => ({ name: parameter.name, parameter: { ...parameter, plain: "" } }));
}

/** All controls of an op and rules, and of their loss, each once. @param {Entry} op @param {Entry[]} rules @param {Control[]} [ofLoss] */
export function allControls(op, rules, ofLoss = []) {
  const every = [...ofLoss, ...[op, ...rules].flatMap((entry) => controlsOf(entry, op, rules))];
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
 * @param {Control[]} [ofLoss]
 */
export function carried(parameters, before, after, ofLoss = []) {
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
  return nonDefault(next, allControls(after.op, after.rules, ofLoss));
}

/** @param {Control} upper @param {Control} lower */
function isAbove(upper, lower) {
  const { below } = lower.parameter;
  if (!below) return false;
  const rule = lower.name.slice(0, lower.name.length - shownName(lower.parameter).length);
  return [rule + below, below].includes(upper.name);
}
