// The effect of a study's option "equal footing", which divides learning rates by gradient sizes, on the order of the
// rules, as in explorer/study/order.py.

import { findEntry } from "../choice/entries.js";
import { joinList } from "../formula/phrases.js";
import { withSetting } from "../train/state/tasks.js";
import { hasEqualFooting, toStudyKey } from "./settings.js";

/** @import { Standing } from "../train/state/records.js" */
/** @import { State } from "./state.js" */
/** The keys and rankings of finished studies, the latest last. @typedef {[string, Standing[]][]} Finished */

const MAX_KEPT = 12;

/**
 * Return the finished studies, including the displayed one if it has a ranking.
 * @param {State} state @returns {Finished}
 */
export function withFinished({ finished, studiedKey, view }) {
  const standings = view.status.results?.standings ?? [];
  if (!studiedKey || !standings.length) return finished;
  const rest = finished.filter(([key]) => key !== studiedKey);
  return [...rest, /** @type {[string, Standing[]]} */ ([studiedKey, standings])].slice(-MAX_KEPT);
}

/**
 * Describe which rules change order if learning rates are divided by gradient sizes. Returns "" unless the displayed
 * study and its counterpart with or without this option are both finished.
 * @param {State} state
 */
export function describeOrder({ studied, table, finished, view }) {
  const current = view.status.results?.standings ?? [];
  if (!studied || !current.length) return "";
  const partner = toStudyKey(withSetting(studied, "equal", hasEqualFooting(studied) ? "" : "yes"), table);
  const other = finished.find(([key]) => key === partner)?.[1];
  return other ? `With equal footing and without: ${describeChanges(current, other)}` : "";
}

/** @param {Standing[]} current @param {Standing[]} other */
function describeChanges(current, other) {
  const pairs = current.flatMap((one) => {
    const two = other.find(({ first, second }) => first === one.first && second === one.second);
    return two ? [{ one, two }] : [];
  });
  if (!pairs.length) return "no pair of rules can be compared in both.";
  const changed = pairs.filter(({ one, two }) => one.lower * two.lower < 0);
  if (!changed.length) return `none of ${pairs.length} pairs of rules changes order.`;
  const surely = changed.filter(({ one, two }) => one.sure && two.sure);
  const names = surely.map(({ one }) => `${labelOf(one.first)} and ${labelOf(one.second)}`);
  const sure = names.length ? `${names.length} of them surely: ${joinList(names)}` : "none of them surely";
  const change = changed.length === 1 ? "changes" : "change";
  return `${changed.length} of ${pairs.length} pairs of rules ${change} order, ${sure}.`;
}

/** Return the label of a rule, or its key if the rule does not exist any more. @param {string} key */
const labelOf = (key) => findEntry("rule", key)?.label ?? key;
