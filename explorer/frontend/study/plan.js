// The plan of a study as data: one row per rule, one column per learning rate, one ring per run.

import { formatShort } from "../formula/numbers.js";
import { getSetting } from "../train/state/tasks.js";
import { getSubject } from "./rows.js";
import { hasEqualFooting } from "./settings.js";

/** @import { Line } from "./rows.js" */
/** @import { State } from "./state.js" */
/**
 * The plan of a study. ``rings``: the number of seeds, with one ring for each; ``others``: a remark on rules that are
 * left out, or "".
 * @typedef {{heading: string, caption: string, rates: string[], rows: Line[], rings: number, others: string}} Plan
 */

const MAX_LINES = 8;
const CAPTION = "One ring per run; new seeds judge each rule's best rate.";
const EQUAL = "Each rule's rates are divided by its share.";

/**
 * Return the plan of a study with the current settings. Returns null once there are results.
 * @param {State} state @returns {Plan|null}
 */
export function buildPlan(state) {
  const { choice, view } = state;
  if (view.status.results) return null;
  const subject = getSubject({ ...state, studied: choice });
  const left = subject.lines.length - MAX_LINES;
  return {
    heading: "The plan",
    caption: hasEqualFooting(choice) ? `${CAPTION} ${EQUAL}` : CAPTION,
    rates: subject.rates.map(formatShort),
    rows: subject.lines.slice(0, MAX_LINES),
    rings: Number(getSetting(choice, "seeds")),
    others: left > 0 ? `and ${left} more` : "",
  };
}
