// The bodies of requests that start or command a run.

import { toQuery } from "../../choice/address.js";
import { isUnderway } from "../state/history.js";
import { getLiveSettings, toSettingsKey, getSetting, taskOf } from "../state/tasks.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { OwnTable } from "../state/own-table.js" */
/**
 * The settings of a run: ``settingsKey`` is the key of all settings whose change starts a new run, ``lr`` the
 * initial learning rate.
 * @typedef {{settingsKey: string, lr: string}} RunSettings
 * A run to start: a link's query, and the settings that the link does not contain.
 * @typedef {RunSettings & {query: string, table: OwnTable|null, branch: string[]}} Order
 */

/**
 * Return the request that starts a run of a choice.
 * @param {Choice} choice
 * @param {OwnTable} table the visitor's own table
 * @returns {Order}
 */
export function orderOf(choice, table) {
  const branch = (choice.training.branch ?? "").split("\n").filter(Boolean);
  const ownTable = taskOf(choice).kind === "own" ? table : null;
  return { query: toQuery(choice), branch, table: ownTable, ...getRunSettings(choice, table) };
}

/**
 * Return the key of a choice's settings, and its learning rate.
 * @param {Choice} choice
 * @param {OwnTable} table
 * @returns {RunSettings}
 */
export function getRunSettings(choice, table) {
  return { settingsKey: toSettingsKey(choice, table), lr: getSetting(choice, "lr") };
}

/**
 * Return the settings to send with a command.
 *
 * They include a learning rate only if it is new to the run: a run with branch points must not get its initial rate
 * again.
 * @param {import("../state/state.js").State} state
 * @param {Choice} choice
 * @param {string} command
 */
export function getCommandSettings(state, choice, command) {
  const { lr, ...rest } = getLiveSettings(choice);
  const isFirst = state.trained && getSetting(state.trained, "lr") !== lr && !isUnderway(state);
  const rate = command === "reset" || isFirst ? lr : state.rate;
  return { ...rest, ...(rate !== null && { lr: rate }) };
}

/**
 * Return whether two choices have the same settings that can change during a run.
 * @param {Choice} one
 * @param {Choice} other
 */
export function hasSameLiveSettings(one, other) {
  return JSON.stringify(getLiveSettings(one)) === JSON.stringify(getLiveSettings(other));
}
