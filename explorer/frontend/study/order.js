// The order of rules in two studies, one on an equal footing: as in explorer/study/order.py. No page.

import { find } from "../choice/entries.js";
import { listed } from "../formula/phrases.js";
import { isEqual, studyKey, withEqual } from "./settings.js";

/** @import { Standing } from "../train/state/records.js" */
/** @import { State } from "./state.js" */
/** @typedef {[string, Standing[]][]} Finished the standings of studies that are finished, by key, the last one last */

const MOST_KEPT = 12;

/** The finished studies with the one on display, once it is among them. @param {State} state @returns {Finished} */
export function withFinished({ finished, studiedKey, view }) {
  const standings = view.status.results?.standings ?? [];
  if (!studiedKey || !standings.length) return finished;
  const others = finished.filter(([key]) => key !== studiedKey);
  return [...others, /** @type {[string, Standing[]]} */ ([studiedKey, standings])].slice(-MOST_KEPT);
}

/**
 * How many pairs of rules change order by an equal footing, "" where one of both studies was not run.
 * @param {State} state
 */
export function orderOf({ studied, table, finished, view }) {
  const own = view.status.results?.standings ?? [];
  if (!studied || !own.length) return "";
  const partner = studyKey(withEqual(studied, !isEqual(studied)), table);
  const other = finished.find(([key]) => key === partner)?.[1];
  return other ? `With equal footing and without: ${sentenceOf(own, other)}` : "";
}

/** @param {Standing[]} own @param {Standing[]} other */
function sentenceOf(own, other) {
  const both = own.flatMap((one) => {
    const two = other.find(({ first, second }) => first === one.first && second === one.second);
    return two ? [{ one, two }] : [];
  });
  if (!both.length) return "no pair of rules can be compared in both.";
  const changed = both.filter(({ one, two }) => one.lower * two.lower < 0);
  if (!changed.length) return `none of ${both.length} pairs of rules changes order.`;
  const surely = changed.filter(({ one, two }) => one.sure && two.sure);
  const names = surely.map(({ one }) => `${labelOf(one.first)} and ${labelOf(one.second)}`);
  const sure = names.length ? `${names.length} of them surely: ${listed(names)}` : "none of them surely";
  const change = changed.length === 1 ? "changes" : "change";
  return `${changed.length} of ${both.length} pairs of rules ${change} order, ${sure}.`;
}

/** @param {string} key */
const labelOf = (key) => find("rule", key)?.label ?? key;
