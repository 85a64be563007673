// The body of a request that begins a run, the key of its settings, and the settings sent with a command. No page.

import { toQuery } from "../../choice/address.js";
import { isOnItsWay } from "../state/history.js";
import { liveOf, settingsKey, settingText, taskOf } from "../state/tasks.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { OwnTable } from "../state/own-table.js" */
/**
 * The settings of a run: ``settingsKey`` names those that begin a new one when they change, ``lr`` is what it
 * begins with.
 * @typedef {{settingsKey: string, lr: string}} Named
 * A run to begin: the query of a link, with the settings that are not in it.
 * @typedef {Named & {query: string, table: OwnTable|null, branch: string[]}} Order
 */

/**
 * The run of a choice, to begin; ``table`` is the visitor's own.
 * @param {Choice} choice
 * @param {OwnTable} table
 * @returns {Order}
 */
export function orderOf(choice, table) {
  const branch = (choice.training.branch ?? "").split("\n").filter(Boolean);
  const own = taskOf(choice).kind === "own" ? table : null;
  return { query: toQuery(choice), branch, table: own, ...namedOf(choice, table) };
}

/** @param {Choice} choice @param {OwnTable} table @returns {Named} */
export function namedOf(choice, table) {
  return { settingsKey: settingsKey(choice, table), lr: settingText(choice, "lr") };
}

/**
 * The settings sent with a command: a learning rate only where it is new to the run, since a run that goes by
 * its branch points must not get the rate it began with.
 * @param {import("../state/state.js").State} state
 * @param {Choice} choice
 * @param {string} command
 */
export function liveFor(state, choice, command) {
  const { lr, ...others } = liveOf(choice);
  const isFirst = state.trained && settingText(state.trained, "lr") !== lr && !isOnItsWay(state);
  const rate = command === "reset" || isFirst ? lr : state.rate;
  return { ...others, ...(rate !== null && { lr: rate }) };
}

/** Whether two choices are alike in what may change in mid-run. @param {Choice} one @param {Choice} other */
export function goesAlike(one, other) {
  return JSON.stringify(liveOf(one)) === JSON.stringify(liveOf(other));
}
