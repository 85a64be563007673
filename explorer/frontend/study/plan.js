// The plan of a study before its first run, as plain data: a line a rule, a column a rate, a ring a run. No page.

import { shortText } from "../formula/numbers.js";
import { settingText } from "../train/state/tasks.js";
import { subjectOf } from "./rows.js";
import { isEqual } from "./settings.js";

/** @import { Line } from "./rows.js" */
/** @import { State } from "./state.js" */
/**
 * The plan: ``rings`` are those of a cell, one a seed, ``others`` the lines that are not drawn.
 * @typedef {{heading: string, caption: string, rates: string[], rows: Line[], rings: number,
 *   others: string}} Plan
 */

const MOST_LINES = 8;
const CAPTION = "A ring is a run; new seeds judge each rule at its best rate.";
const EQUAL = "Each rule's rates are divided by its share.";

/** @param {State} state @returns {Plan|null} null once there are results, or where there is nothing to compare */
export function planOf(state) {
  const { choice, view } = state;
  if (view.status.results) return null;
  const subject = subjectOf({ ...state, studied: choice });
  const left = subject.lines.length - MOST_LINES;
  return {
    heading: "The plan",
    caption: isEqual(choice) ? `${CAPTION} ${EQUAL}` : CAPTION,
    rates: subject.rates.map(shortText),
    rows: subject.lines.slice(0, MOST_LINES),
    rings: Number(settingText(choice, "seeds")),
    others: left > 0 ? `and ${left} more` : "",
  };
}
