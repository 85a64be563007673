// Parameters of ops and rules that learn in training, as text in a link: ``s`` learns by all rules, ``rule.s`` by one
// rule.

import { findContribution, listLearnable } from "../formula/contribution.js";

/** @import { Op, Rule } from "../formula/entry.js" */
/** @import { Choice } from "./choice.js" */
/**
 * A parameter, and the rules that can train it. ``learns``: whether a rule does.
 * @typedef {{name: string, rules: {rule: Rule, learns: boolean}[]}} Learning
 */

/**
 * List the parameters that can learn, each with the rules that can train it.
 * @param {Op} op @param {Rule[]} rules @param {string} text the learning parameters as in a link @returns {Learning[]}
 */
export function parseLearning(op, rules, text) {
  const names = splitNames(text);
  return listLearnable(op, rules).map((name) => ({
    name,
    rules: rules
      .filter((rule) => findContribution(op, rule, name))
      .map((rule) => ({ rule, learns: names.includes(name) || names.includes(`${rule.key}.${name}`) })),
  }));
}

/** Format the parameters that learn for a link. A name without a rule means all rules. @param {Learning[]} learning */
export function formatLearning(learning) {
  const texts = learning.flatMap(({ name, rules }) => {
    const ruleNames = rules.filter(({ learns }) => learns).map(({ rule }) => `${rule.key}.${name}`);
    return ruleNames.length === rules.length ? [name] : ruleNames;
  });
  return texts.join(",");
}

/**
 * Return a list in which it is toggled whether one backward rule trains a parameter.
 * @param {Learning[]} learning @param {string} name the parameter @param {string} key the rule's key
 */
export function toggleLearning(learning, name, key) {
  return updateRules(learning, name, (one) => (one.rule.key === key ? !one.learns : one.learns));
}

/**
 * Return a list in which a parameter learns by all rules that can train it, or by none.
 * @param {Learning[]} learning @param {string} name the parameter @param {boolean} learns
 */
export function setLearningByAllRules(learning, name, learns) {
  return updateRules(learning, name, () => learns);
}

/**
 * @param {Learning[]} learning @param {string} name the parameter
 * @param {(one: Learning["rules"][number]) => boolean} isLearning returns whether a rule trains the parameter
 */
function updateRules(learning, name, isLearning) {
  const updateAll = (/** @type {Learning} */ { rules }) =>
    rules.map((one) => ({ ...one, learns: isLearning(one) }));
  return learning.map((each) => (each.name === name ? { name, rules: updateAll(each) } : each));
}

/** Split text at commas, except within parentheses. @param {string} text */
function splitNames(text) {
  const names = [""];
  let depth = 0;
  for (const character of text) {
    depth += Number(character === "(") - Number(character === ")");
    if (character === "," && depth <= 0) names.push("");
    else names[names.length - 1] += character;
  }
  return names.map((name) => name.trim()).filter(Boolean);
}

/**
 * Return settings in which the parameters of a list learn.
 * @param {Choice} choice @param {Learning[]} learning @returns {Choice}
 */
export function setLearning(choice, learning) {
  const { learn: _, ...training } = choice.training;
  const text = formatLearning(learning);
  return { ...choice, training: text ? { ...training, learn: text } : training };
}
