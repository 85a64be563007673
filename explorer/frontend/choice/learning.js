// The parameters that learn in training: by the names a link has, ``s`` for all rules or ``rule.s`` for one.

import { contributionOf, learnable } from "../formula/contribution.js";

/** @import { Op, Rule } from "../formula/entry.js" */
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
  return learning.flatMap(({ name, rules }) => textsOf(name, rules)).join(",");
}

/**
 * The same, but for one parameter with one rule.
 * @param {Learning[]} learning
 * @param {string} name
 * @param {string} key of the rule
 */
export function toggled(learning, name, key) {
  return learning.map((each) =>
    each.name === name
      ? {
          name,
          rules: each.rules.map((one) => (one.rule.key === key ? { ...one, learns: !one.learns } : one)),
        }
      : each,
  );
}

/**
 * The same, but for one parameter with all of its rules.
 * @param {Learning[]} learning
 * @param {string} name
 * @param {boolean} learns
 */
export function withAll(learning, name, learns) {
  return learning.map((each) =>
    each.name === name ? { name, rules: each.rules.map((one) => ({ ...one, learns })) } : each,
  );
}

/** @param {string} name @param {Learning["rules"]} rules */
function textsOf(name, rules) {
  if (rules.every(({ learns }) => learns)) return [name];
  return rules.filter(({ learns }) => learns).map(({ rule }) => `${rule.key}.${name}`);
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
