// The parameters that learn in training: by the names a link has, ``s`` for all rules or ``rule.s`` for one.

import { contributionOf, learnable } from "../formula/contribution.js";

/** @import { Op, Rule } from "../formula/entry.js" */
/** @import { Choice } from "./choice.js" */
/**
 * A parameter, and the rules with which it can learn.
 * @typedef {{name: string, rules: {rule: Rule, learns: boolean}[]}} Learning
 */

/**
 * The parameters that can learn, and whether each does.
 * @param {Op} op
 * @param {Rule[]} rules
 * @param {string} text as a link has it
 * @returns {Learning[]}
 */
export function learningOf(op, rules, text) {
  const names = namesIn(text);
  return learnable(op, rules).map((name) => ({
    name,
    rules: rules
      .filter((rule) => contributionOf(op, rule, name))
      .map((rule) => ({ rule, learns: names.includes(name) || names.includes(`${rule.key}.${name}`) })),
  }));
}

/**
 * The text of what learns: the name alone where it does with every rule that it can learn with.
 * @param {Learning[]} learning
 */
export function learningText(learning) {
  const texts = learning.flatMap(({ name, rules }) => {
    const by = rules.filter(({ learns }) => learns).map(({ rule }) => `${rule.key}.${name}`);
    return by.length === rules.length ? [name] : by;
  });
  return texts.join(",");
}

/**
 * The same, but for one parameter with one rule.
 * @param {Learning[]} learning
 * @param {string} name
 * @param {string} key of the rule
 */
export function toggled(learning, name, key) {
  return withRules(learning, name, (one) => (one.rule.key === key ? !one.learns : one.learns));
}

/**
 * The same, but for one parameter with all of its rules.
 * @param {Learning[]} learning
 * @param {string} name
 * @param {boolean} learns
 */
export function withAll(learning, name, learns) {
  return withRules(learning, name, () => learns);
}

/** @param {Learning[]} learning @param {string} name @param {(one: Learning["rules"][number]) => boolean} learnsBy */
function withRules(learning, name, learnsBy) {
  const changed = (/** @type {Learning} */ { rules }) =>
    rules.map((one) => ({ ...one, learns: learnsBy(one) }));
  return learning.map((each) => (each.name === name ? { name, rules: changed(each) } : each));
}

/** Names between commas; those within an own formula's brackets part nothing. @param {string} text */
function namesIn(text) {
  const names = [""];
  let depth = 0;
  for (const character of text) {
    depth += Number(character === "(") - Number(character === ")");
    if (character === "," && depth <= 0) names.push("");
    else names[names.length - 1] += character;
  }
  return names.map((name) => name.trim()).filter(Boolean);
}

/** A choice in whose training this learns. @param {Choice} choice @param {Learning[]} learning @returns {Choice} */
export function withTraining(choice, learning) {
  const { learn: _, ...training } = choice.training;
  const text = learningText(learning);
  return { ...choice, training: text ? { ...training, learn: text } : training };
}
