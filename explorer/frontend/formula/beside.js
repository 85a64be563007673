/**
 * A rule as it stands beside an op: a name that the op has in another meaning is another name in its trees. As in
 * explorer/catalogue/beside.py; the texts for people keep the rule's own name, as its card does.
 */

/** @import { Op, Parameter, Rule } from "./entry.js" */

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
