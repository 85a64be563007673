// The rules of a study with their names and colours, a line a rule. No page.

import { withoutRule } from "../choice/choice.js";
import { queryOf } from "../choice/address.js";
import { find } from "../choice/entries.js";
import { withSetting } from "../train/state/tasks.js";
import { addedControls, ratesOf } from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Rule } from "../formula/entry.js" */
/** @import { State } from "./state.js" */
/**
 * A line of the study: a rule.
 * @typedef {{key: string, label: string, colour: string, control: boolean}} Line
 * The subject of a study: its choice, its lines and its rates.
 * @typedef {{choice: Choice, lines: Line[], rates: number[]}} Subject
 */

/**
 * The subject on display: that of the study there is, or of the one that is chosen.
 * @param {State} state
 * @returns {Subject}
 */
export function subjectOf(state) {
  const { results } = state.view.status;
  const choice = state.studied ?? state.choice;
  const controls = results?.controls ?? addedControls(choice);
  const keys = [...choice.rules.map(({ key }) => key), ...controls];
  const lines = keys.map((key) => ({
    ...lineOf(choice, key, state.colours),
    control: controls.includes(key),
  }));
  return { choice, lines, rates: results?.lrs ?? ratesOf(choice) };
}

/** @param {Choice} choice @param {string} key @param {State["colours"]} colours */
function lineOf({ rules }, key, { rules: bright, neutral }) {
  const chosen = rules.find((rule) => rule.key === key);
  const colour = chosen ? bright[chosen.slot % bright.length] : neutral;
  return { key, label: /** @type {Rule} */ (find("rule", key)).label, colour };
}

/**
 * The query of a run on Train with the nets of a cell: that rule alone, its rate, and the same seeds.
 * @param {Choice} choice
 * @param {Line} line
 * @param {number} lr
 */
export function trainQuery(choice, { key }, lr) {
  const { rates: _r, controls: _c, equal: _e, ...training } = choice.training;
  const chosen = choice.rules.find((rule) => rule.key === key);
  const rule = { key, slot: chosen?.slot ?? 0, hidden: false };
  const trained = { ...choice, training };
  const alone = chosen
    ? trained.rules
        .filter((other) => other.key !== key)
        .reduce((rest, other) => withoutRule(rest, other.slot), trained)
    : { ...trained, rules: [rule] };
  return queryOf(
    withSetting({ ...alone, section: "", tools: "", slow: "", rules: [rule] }, "lr", String(lr)),
  );
}
