// Rules on an equal footing: all of them scaled to the area, or to the width, of the first one that has one.

import { entriesOf, withOtherRule } from "../../choice/choice.js";
import { catalogue, isOwn, learn, ownText } from "../../choice/entries.js";
import { valuesOf } from "../../formula/curves.js";
import { partsOf, rounded, scaledFields } from "../../measures/scaling.js";
import { sizesOf } from "../../measures/size.js";

/** @import { Choice, ChosenRule } from "../../choice/choice.js" */
/** @import { Rule } from "../../formula/entry.js" */
/** @import { Kind, Sized, Sizes } from "../../measures/size.js" */
/**
 * A rule with its sizes; ``own`` are the values of those parameters that the op does not have, ``shared`` the names of
 * the others.
 * @typedef {{chosen: ChosenRule, rule: Rule, own: Record<string, number>, shared: string[], sizes: Sizes}} Row
 * What was scaled: to which rule's size, and by which factor each other one was, with the parameters whose own gradient
 * it had; ``refused`` says why not, by label.
 * @typedef {{kind: Kind, first: string, size: number, factors: [string, number, string[]][],
 *   refused: [string, string][]}} Done
 */

export const KINDS = /** @type {Kind[]} */ (["area", "width"]);
const NAMED = /^\s*([A-Za-z0-9_]{1,40})\s*=(?!=)\s*/; // what stands before an own formula is its name
const [LONGEST, ENDING] = [40, "_scaled"];
const NEAR = 1e-6; // of the size of the first: that is it

/** The rules of a choice with their sizes. @param {Choice} choice @returns {Row[]} */
export function rowsOf(choice) {
  const { op, rules } = entriesOf(choice);
  return choice.rules.map((chosen, index) => {
    const rule = rules[index];
    const all = valuesOf(op, rule, choice.parameters);
    const names = rule.parameters.map(({ name }) => name);
    const isShared = (/** @type {string} */ name) => op.parameters.some((one) => one.name === name);
    const own = names.filter((name) => !isShared(name)).map((name) => [name, all[name]]);
    return {
      chosen,
      rule,
      own: Object.fromEntries(own),
      shared: names.filter(isShared),
      sizes: sizesOf(op, rule, choice.parameters),
    };
  });
}

/** Whether there are two rules with a size. @param {Row[]} rows @param {Kind} kind */
export function canScale(rows, kind) {
  return rows.filter(({ sizes }) => !sizes[kind].reason).length > 1;
}

/**
 * The choice with all rules that can be scaled to the size of the first one that has one.
 * @param {Choice} choice
 * @param {Row[]} rows
 * @param {Kind} kind
 * @returns {{choice: Choice, done: Done}}
 */
export function scaledTo(choice, rows, kind) {
  const first = /** @type {Row} */ (rows.find(({ sizes }) => !sizes[kind].reason));
  const size = first.sizes[kind].value;
  const done = /** @type {Done} */ ({ kind, first: first.rule.label, size, factors: [], refused: [] });
  let next = choice;
  for (const row of rows) {
    const { value, reason } = row.sizes[kind];
    const factor = rounded(size / value);
    const scaled = reason ? null : Math.abs(factor - 1) <= NEAR ? row.rule : scaledRule(row, kind, factor);
    if (row === first || scaled === row.rule) continue;
    if (scaled) {
      learn("rule", scaled);
      next = withOtherRule(next, row.chosen.slot, scaled.key);
      done.factors.push([row.rule.label, factor, Object.keys(row.rule.learned)]);
    } else done.refused.push([row.rule.label, reason || "would be too long a formula"]);
  }
  return { choice: next, done };
}

/**
 * A rule of its own, as Python reads it from its key; null where it is too long for that.
 * @param {Row} row
 * @param {Kind} kind
 * @param {number} factor
 * @returns {Rule|null}
 */
function scaledRule({ rule, own: values, shared, sizes }, kind, factor) {
  const { own, firstOwn, limits } = catalogue();
  const inner = rounded(1 / factor);
  const scale =
    kind === "area"
      ? { high: factor, wide: 1, centre: 0 }
      : { high: 1, wide: 1 / inner, centre: rounded(sizes.peak) };
  const fields = scaledFields(/** @type {*} */ (rule), values, scale);
  const name = nameOf(rule);
  const text = `${name ? `${name} = ` : ""}${fields.formula}`;
  if (text.length > limits.formula || partsOf(fields.tree) > limits.nodes) return null;
  const { pieces: _pieces, slopes: _slopes, ...plain } = firstOwn.rule[0];
  const parameters = shared.map((each) => ({ ...plain.parameters[0], name: each }));
  const label = name || fields.formula;
  return { ...plain, ...fields, parameters, key: own + text, label, usesY: rule.usesY };
}

/** The name of a scaled rule: of the catalogue's key, or an own one's. @param {Rule} rule */
function nameOf({ key }) {
  const { own } = catalogue();
  if (isOwn(key)) return NAMED.exec(ownText(key))?.[1] ?? "";
  return key.slice(0, LONGEST - ENDING.length) + ENDING;
}
