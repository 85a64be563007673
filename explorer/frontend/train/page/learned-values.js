// Present values of the parameters that learn, beside the sliders that hold their starts. No page.

import { getEntries } from "../../choice/choice.js";
import { parseLearning } from "../../choice/learning.js";
import { formatShort } from "../../formula/numbers.js";
import { getChannelRange, getLearned, getCurrentValues } from "../state/series.js";

/** @import { Present } from "../../cards/cards.js" */
/** @import { Snapshot } from "../state/records.js" */

/**
 * Of each rule its own values, and on the op's card those of all rules; a layer has one each, or its channels have.
 * @param {import("../state/state.js").State} state
 * @returns {Present}
 */
export function presentTexts({ choice, view }) {
  const { snapshot } = view.status;
  const { op, rules } = getEntries(choice);
  /** @type {Present} */
  const present = { op: {}, rules: {} };
  if (!snapshot) return present;
  for (const { name, rules: each } of parseLearning(op, rules, choice.training.learn ?? "")) {
    const learning = each.filter(({ learns }) => learns);
    if (!learning.length) continue;
    const isMixed = choice.training.learn_each === "channel";
    const values = learning.map(({ rule }) => valuesOf(snapshot, rule.key, name));
    present.op[name] = textOf(values.flat(), isMixed || values.length > 1);
    learning.forEach(({ rule }, at) => {
      present.rules[rule.key] = { ...present.rules[rule.key], [name]: textOf(values[at], isMixed) };
    });
  }
  return present;
}

/**
 * By layer, as far as nets are left; of channels with values of their own the least and the greatest.
 * @param {Snapshot} snapshot
 * @param {string} rule
 * @param {string} name
 * @returns {number[]}
 */
function valuesOf(snapshot, rule, name) {
  const parameter = getLearned(snapshot, rule).find((one) => one.name === name);
  if (!parameter) return [];
  const values = Array.from(
    { length: parameter.layers },
    (_, layer) =>
      getChannelRange(snapshot, rule, parameter, layer) ?? [getCurrentValues(snapshot, rule, layer)[name]],
  );
  return values.flat().filter((value) => value !== undefined);
}

/** @param {number[]} values @param {boolean} mixed whether they are of several rules or channels */
function textOf(values, mixed) {
  if (!values.length) return "";
  const few = values.length < 3 && !mixed;
  const ends = few ? values : [Math.min(...values), Math.max(...values)];
  const texts = [...new Set(ends.map((value) => formatShort(value).replaceAll("-", "−")))];
  return `now ${texts.join(few ? ", " : " to ")}`;
}
