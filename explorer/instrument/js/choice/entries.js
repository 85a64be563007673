// Ops and rules by key: the catalogue's document, and the own formulas met so far.

/** @typedef {import("../formula/controls.js").Entry} Entry */
/** @typedef {"op"|"rule"} Kind */

/** @type {*} */
let known = null;
const own = {
  op: /** @type {Object<string, Entry>} */ ({}),
  rule: /** @type {Object<string, Entry>} */ ({}),
};

/**
 * Take over the document that the server or the saved file holds.
 * @param {*} document
 */
export function setDocument(document) {
  known = document;
  learn("op", known.firstOwn.op);
  known.firstOwn.rule.forEach((/** @type {Entry} */ entry) => learn("rule", entry));
}

/** The document: ops, rules, families, groups, limits. */
export function catalogue() {
  return known;
}

/**
 * The entry of a key.
 * @param {Kind} kind
 * @param {string} key
 * @returns {Entry|undefined}
 */
export function find(kind, key) {
  const listed = kind === "op" ? known.ops : known.rules;
  return (
    (Object.hasOwn(listed, key) && listed[key]) ||
    (Object.hasOwn(own[kind], key) && own[kind][key]) ||
    undefined
  );
}

/**
 * Remember an own formula.
 * @param {Kind} kind
 * @param {Entry} entry
 */
export function learn(kind, entry) {
  own[kind][entry.key] = entry;
}

/** @param {string} key whether it is an own formula's */
export function isOwn(key) {
  return key.startsWith(known.own);
}

/**
 * The own formulas of a choice, as they travel with it.
 * @param {{op: string, rules: {key: string}[]}} choice
 */
export function ownEntries(choice) {
  const keys = choice.rules.map((rule) => rule.key).filter(isOwn);
  return {
    op: isOwn(choice.op) ? [find("op", choice.op)] : [],
    rule: keys.map((key) => find("rule", key)),
  };
}
