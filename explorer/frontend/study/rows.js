// The rules of a study with their names and colours, one line for each value of what is swept. No page.

import { cardControls, withParameter, withoutRule, trainedControls } from "../choice/choice.js";
import { queryOf } from "../choice/address.js";
import { find, findBeside } from "../choice/entries.js";
import { numberText } from "../formula/numbers.js";
import { withSetting } from "../train/state/tasks.js";
import { addedControls, ratesOf, sweptOf, valuesOf } from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Rule } from "../formula/entry.js" */
/** @import { State } from "./state.js" */
/**
 * A line of the study: a rule, with a value where it has the parameter that is swept.
 * @typedef {{key: string, label: string, colour: string, control: boolean, value: number|null}} Line
 * The subject of a study: its choice, its lines, its rates, and the name of the swept parameter.
 * @typedef {{choice: Choice, lines: Line[], rates: number[], sweep: string}} Subject
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
  const sweep = sweptOf(choice)?.name ?? "";
  const lines = keys.flatMap((key) => {
    const values = isSwept(choice, key) ? valuesOf(choice) : [null];
    const line = { ...lineOf(choice, key, state.colours), control: controls.includes(key) };
    return values.map((value) => ({ ...line, value }));
  });
  return { choice, lines, rates: results?.lrs ?? ratesOf(choice), sweep };
}

/**
 * Whether the parameter that is swept is one of this rule or of the op.
 * @param {Choice} choice
 * @param {string} key
 */
function isSwept(choice, key) {
  const control = sweptOf(choice);
  if (!control) return false;
  const op = find("op", choice.op);
  const rule = findBeside(op, key);
  const entries = [...(op ? [op] : []), ...(rule ? [rule] : [])];
  return entries.some((entry) => cardControls(choice, entry).some(({ name }) => name === control.name));
}

/** @param {Choice} choice @param {string} key @param {State["colours"]} colours */
function lineOf({ rules }, key, { rules: bright, neutral }) {
  const chosen = rules.find((rule) => rule.key === key);
  const colour = chosen ? bright[chosen.slot % bright.length] : neutral;
  return { key, label: /** @type {Rule} */ (find("rule", key)).label, colour };
}

/** The name of a line, with the value of what is swept. @param {Line} line @param {string} sweep */
export function lineName({ label, value }, sweep) {
  return value === null ? label : `${label}, ${shortName(sweep)} = ${numberText(value)}`;
}

/** A parameter without the rule it belongs to. @param {string} name */
export function shortName(name) {
  return name.slice(name.lastIndexOf(".") + 1);
}

/**
 * The query of a run on Train with the nets of a cell: that rule alone, its rate, and the same seeds.
 * @param {Choice} choice
 * @param {Line} line
 * @param {number} lr
 */
export function trainQuery(choice, { key, value }, lr) {
  const { rates: _r, sweep, values: _v, controls: _c, equal: _e, ...training } = choice.training;
  const chosen = choice.rules.find((rule) => rule.key === key);
  const rule = { key, slot: chosen?.slot ?? 0, hidden: false };
  const control = value === null ? null : trainedControls(choice).find(({ name }) => name === sweep);
  const valued =
    control && value !== null
      ? withParameter({ ...choice, training }, control, value)
      : { ...choice, training };
  const alone = chosen
    ? valued.rules
        .filter((other) => other.key !== key)
        .reduce((rest, other) => withoutRule(rest, other.slot), valued)
    : { ...valued, rules: [rule] };
  return queryOf(
    withSetting({ ...alone, section: "", tools: "", slow: "", rules: [rule] }, "lr", String(lr)),
  );
}
