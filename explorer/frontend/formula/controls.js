/**
 * Parameters of an op and its backward rules, as the page's controls show them. If a rule's parameter has the same name
 * as the op's but another meaning, it is renamed in the rule's formulas, as in explorer/catalogue/parameter_values.py.
 * Texts on the page keep the original name.
 */

import { getOwn } from "./records.js";

/** @import { Entry, Op, Parameter, Rule } from "./entry.js" */
/**
 * A slider or number field. ``name``: the key of its stored value; ``parameter``: the parameter that it sets.
 * @typedef {{name: string, parameter: Parameter}} Control
 */

const RULE_SUFFIX = "_rule"; // appended to a rule's parameter name that has another meaning in the op

/** @type {WeakMap<Rule, Map<string, Rule>>} */
const adaptedRules = new WeakMap();

/**
 * Return whether a parameter of a rule means something else than the op's parameter of the same name. It does if their
 * declared quantities differ, or if the op's default is invalid for the rule.
 * @param {Parameter} own the op's parameter @param {Parameter} other the rule's parameter
 */
export function areDistinct(own, other) {
  const differ = own.quantity !== "" && other.quantity !== "" && own.quantity !== other.quantity;
  const [low, high] = other.reach;
  return differ || (other.domain !== "" && !(low <= own.default && own.default <= high));
}

/**
 * Return a rule with other names for parameters whose names mean something else in the op, the same object for equal
 * arguments.
 * @param {Op} op @param {Rule} rule @returns {Rule}
 */
export function adaptRule(op, rule) {
  const names = rule.parameters
    .filter((other) => op.parameters.some((own) => own.name === other.name && areDistinct(own, other)))
    .map(({ name }) => name);
  if (!names.length) return rule;
  const cached = adaptedRules.get(rule) ?? new Map();
  adaptedRules.set(rule, cached);
  const key = names.join();
  if (!cached.has(key)) cached.set(key, renameParameters(rule, names));
  return cached.get(key);
}

/** Return the name of a parameter on the page, which ``adaptRule`` does not change. @param {Parameter} parameter */
export function getDisplayName({ plain, name }) {
  return plain || name;
}

/** @param {Rule} rule @param {string[]} names @returns {Rule} */
function renameParameters(rule, names) {
  const nameOf = (/** @type {string} */ name) => (names.includes(name) ? name + RULE_SUFFIX : name);

  /** @param {*} part @returns {*} */
  function renameIn(part) {
    if (Array.isArray(part)) return part[0] === "name" ? ["name", nameOf(part[1])] : part.map(renameIn);
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, renameIn(value)]));
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
    ...renameIn({ tree, kinks, pieces, slopes }),
    parameters,
    movable: rule.movable.map(({ name, sign }) => ({ name: nameOf(name), sign })),
    learned: Object.fromEntries(
      Object.entries(learned).map(([name, each]) => [nameOf(name), renameIn(each)]),
    ),
  };
}

/**
 * Return the controls of the parameters of one op or rule. A parameter shares the op's control of the same name, or
 * that of an equal parameter of another rule. Otherwise its control is named "rule.name".
 * @param {Entry} entry the op, or one of the rules @param {Entry} op @param {Entry[]} rules adapted to the op
 * @returns {Control[]}
 */
export function getEntryControls(entry, op, rules) {
  return entry.parameters.map((own) => {
    const namesakes = rules.flatMap((rule) => rule.parameters).filter(({ name }) => name === own.name);
    const shared = op.parameters.find((parameter) => parameter.name === own.name);
    if (shared) return { name: own.name, parameter: namesakes.reduce(narrowToDomain, shared) };
    const alike = !own.plain && namesakes.every((other) => toComparisonKey(other) === toComparisonKey(own));
    return { name: alike ? own.name : `${entry.key}.${getDisplayName(own)}`, parameter: own };
  });
}

/** @param {Parameter} parameter */
function toComparisonKey(parameter) {
  return JSON.stringify({ ...parameter, domain: "", reach: null });
}

/**
 * Narrow the bounds of an op's parameter to the values that are valid for a rule with the same parameter.
 * @param {Parameter} own the op's parameter @param {Parameter} other the rule's parameter @returns {Parameter}
 */
function narrowToDomain(own, other) {
  if (other.domain === "") return own;
  const reach = /** @type {[number, number]} */ ([
    Math.max(own.reach[0], other.reach[0]),
    Math.min(own.reach[1], other.reach[1]),
  ]);
  if (reach[0] <= own.low && own.high <= reach[1]) return { ...own, reach };
  const [low, high] = [Math.min(other.low, own.default), Math.max(other.high, own.default)];
  return { ...own, reach, low, high };
}

/**
 * Return the controls of the parameters of a loss. A parameter named like one of the op or a rule shares its value.
 * @param {Parameter[]} parameters @returns {Control[]}
 */
export function makeLossControls(parameters) {
  return parameters.map((parameter) => ({ name: parameter.name, parameter: { ...parameter, plain: "" } }));
}

/**
 * Return the controls of an op, its rules and a loss, without duplicates.
 * @param {Entry} op @param {Entry[]} rules @param {Control[]} [ofLoss] the controls of the loss
 */
export function listControls(op, rules, ofLoss = []) {
  const controls = [...ofLoss, ...[op, ...rules].flatMap((entry) => getEntryControls(entry, op, rules))];
  return [...new Map(controls.map((control) => [control.name, control])).values()];
}

/**
 * Return the current value of a control's parameter.
 * @param {Object<string, number>} parameters values other than the default, by control name @param {Control} control
 */
export function getControlValue(parameters, control) {
  return getOwn(parameters, control.name) ?? control.parameter.default;
}

/**
 * Return all parameter values after a change of one. A bound such as hi that the new value of lo would cross moves with
 * it.
 * @param {Object<string, number>} parameters values other than the default, by control name @param {Control} control
 * @param {number} value @param {Control[]} controls all controls
 */
export function changeValue(parameters, control, value, controls) {
  const next = { ...parameters, [control.name]: value };
  for (const other of controls) {
    if (isAbove(other, control) && getControlValue(next, other) < value) next[other.name] = value;
    if (isAbove(control, other) && getControlValue(next, other) > value) next[other.name] = value;
  }
  return dropDefaults(next, controls);
}

/**
 * Return the parameter values that differ from the default and belong to a control.
 * @param {Object<string, number>} parameters @param {Control[]} controls
 */
export function dropDefaults(parameters, controls) {
  const differing = controls.filter(
    (control) => getControlValue(parameters, control) !== control.parameter.default,
  );
  return Object.fromEntries(differing.map((control) => [control.name, getControlValue(parameters, control)]));
}

/**
 * Return the parameter values to use after a change of the op or the rules. Each parameter of a rule keeps its value,
 * also under another control name. A value moves between op and rule if the parameter has the same meaning in both.
 * @param {Object<string, number>} parameters values before the change @param {{op: Entry, rules: Entry[]}} before
 * @param {{op: Entry, rules: Entry[]}} after @param {Control[]} [ofLoss] the controls of the loss
 */
export function carryValues(parameters, before, after, ofLoss = []) {
  const next = { ...parameters };
  for (const [first, second] of [
    [before, after],
    [after, before],
  ])
    for (const parameter of first.op.parameters) {
      const theirs = [second.op, ...second.rules].flatMap((entry) => entry.parameters);
      const namesake = theirs.find(({ name }) => name === parameter.name);
      if (namesake && !second.op.parameters.includes(namesake) && areDistinct(parameter, namesake))
        delete next[parameter.name];
    }
  for (const rule of after.rules) {
    const earlier = before.rules.find((entry) => entry.key === rule.key);
    const old = earlier ? getEntryControls(earlier, before.op, before.rules) : [];
    getEntryControls(rule, after.op, after.rules).forEach((control, index) => {
      const value = earlier && getOwn(parameters, old[index].name);
      if (value !== undefined) next[control.name] = value;
    });
  }
  return dropDefaults(next, listControls(after.op, after.rules, ofLoss));
}

/** Return whether ``upper`` must not be set below ``lower``. @param {Control} upper @param {Control} lower */
function isAbove(upper, lower) {
  const { below } = lower.parameter;
  if (!below) return false;
  const rule = lower.name.slice(0, lower.name.length - getDisplayName(lower.parameter).length);
  return [rule + below, below].includes(upper.name);
}
