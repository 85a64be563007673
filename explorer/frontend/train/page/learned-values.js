// Current values of learned parameters as text, next to the sliders of their initial values.

import { getEntries } from "../../choice/choice.js";
import { parseLearning } from "../../choice/learning.js";
import { formatShort } from "../../formula/numbers.js";
import { getChannelRange, getLearned, getCurrentValues } from "../state/series.js";

/** @import { Present } from "../../cards/cards.js" */
/** @import { Snapshot } from "../state/records.js" */

/**
 * Return the current values of learned parameters as text, for the cards of the op and each rule: one value for each
 * layer or, with a value for each channel, their range.
 * @param {import("../state/state.js").State} state @returns {Present}
 */
export function makePresentTexts({ choice, view }) {
  const { snapshot } = view.status;
  const { op, rules } = getEntries(choice);
  /** @type {Present} */
  const present = { op: {}, rules: {} };
  if (!snapshot) return present;
  for (const { name, rules: candidates } of parseLearning(op, rules, choice.training.learn ?? "")) {
    const learning = candidates.filter(({ learns }) => learns);
    if (!learning.length) continue;
    const isMixed = choice.training.learn_each === "channel";
    const values = learning.map(({ rule }) => getLayerValues(snapshot, rule.key, name));
    present.op[name] = textOf(values.flat(), isMixed || values.length > 1);
    learning.forEach(({ rule }, at) => {
      present.rules[rule.key] = { ...present.rules[rule.key], [name]: textOf(values[at], isMixed) };
    });
  }
  return present;
}

/**
 * Return the value of a learned parameter in each layer, or its minimum and maximum over channels. Layers without a
 * finite value are left out.
 * @param {Snapshot} snapshot @param {string} rule the rule's key @param {string} name the parameter @returns {number[]}
 */
function getLayerValues(snapshot, rule, name) {
  const parameter = getLearned(snapshot, rule).find((one) => one.name === name);
  if (!parameter) return [];
  const values = Array.from(
    { length: parameter.layers },
    (_, layer) =>
      getChannelRange(snapshot, rule, name, layer) ?? [getCurrentValues(snapshot, rule, layer)[name]],
  );
  return values.flat().filter((value) => value !== undefined);
}

/**
 * Format the values of a parameter: up to two values as a list, others as a range.
 * @param {number[]} values
 * @param {boolean} mixed whether they belong to several rules or channels, so that only a range is shown
 */
function textOf(values, mixed) {
  if (!values.length) return "";
  const isList = values.length < 3 && !mixed;
  const ends = isList ? values : [Math.min(...values), Math.max(...values)];
  const texts = [...new Set(ends.map((value) => formatShort(value)))];
  return `now ${texts.join(isList ? ", " : " to ")}`;
}
