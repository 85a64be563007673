// The backward rules of a study, with names and colours.

import { removeRule } from "../choice/choice.js";
import { toQuery } from "../choice/address.js";
import { findEntry } from "../choice/entries.js";
import { withSetting } from "../train/state/tasks.js";
import { getAddedControls, getStudyRates } from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Rule } from "../formula/entry.js" */
/** @import { State } from "./state.js" */
/**
 * The things that a study compares.
 * @typedef {{key: string, label: string, colour: string, control: boolean}} Line one rule; ``control``: whether it
 *   is trained only as what a useful rule must beat
 * @typedef {{choice: Choice, lines: Line[], rates: number[]}} Subject settings, rules and learning rates
 */

/**
 * Return the subject of the displayed study or else of a study with the current settings.
 * @param {State} state @returns {Subject}
 */
export function getSubject(state) {
  const { results } = state.view.status;
  const choice = state.studied ?? state.choice;
  const controls = results?.controls ?? getAddedControls(choice);
  const keys = [...choice.rules.map(({ key }) => key), ...controls];
  const lines = keys.map((key) => ({
    ...getRuleLine(choice, key, state.colours),
    control: controls.includes(key),
  }));
  return { choice, lines, rates: results?.lrs ?? getStudyRates(choice) };
}

/**
 * Return the label and colour of a rule in a study. Controls have a neutral colour.
 * @param {Choice} choice @param {string} key the rule's key @param {State["colours"]} colours
 */
function getRuleLine({ rules }, key, { rules: palette, neutral }) {
  const rule = rules.find((rule) => rule.key === key);
  const colour = rule ? palette[rule.slot % palette.length] : neutral;
  return { key, label: /** @type {Rule} */ (findEntry("rule", key)).label, colour };
}

/**
 * Return the query that opens one rule with one learning rate on the Train page, with the same seeds.
 * @param {Choice} choice @param {Line} line @param {number} lr
 */
export function toTrainQuery(choice, { key }, lr) {
  const { rates: _r, controls: _c, equal: _e, ...training } = choice.training;
  const existing = choice.rules.find((rule) => rule.key === key);
  const rule = { key, slot: existing?.slot ?? 0, hidden: false };
  const trained = { ...choice, training };
  const single = existing
    ? trained.rules
        .filter((other) => other.key !== key)
        .reduce((rest, other) => removeRule(rest, other.slot), trained)
    : { ...trained, rules: [rule] };
  return toQuery(
    withSetting({ ...single, section: "", tools: "", slow: "", rules: [rule] }, "lr", String(lr)),
  );
}
