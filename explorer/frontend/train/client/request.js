// The bodies of the requests that start or control a training run.

import { toQuery } from "../../choice/address.js";
import { isUnderway } from "../state/history.js";
import { getLiveSettings, toSettingsKey, getSetting, getSelectedTask } from "../state/tasks.js";

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
 * Build the request that starts a training run with the page's current settings.
 * @param {Choice} choice
 * @param {OwnTable} table the visitor's own table
 * @returns {Order}
 */
export function makeRunRequest(choice, table) {
  const branch = (choice.training.branch ?? "").split("\n").filter(Boolean);
  const ownTable = getSelectedTask(choice).kind === "own" ? table : null;
  return { query: toQuery(choice), branch, table: ownTable, ...getRunSettings(choice, table) };
}

/**
 * Return a training run's initial learning rate and a key that identifies all its other settings.
 * @param {Choice} choice
 * @param {OwnTable} table
 * @returns {RunSettings}
 */
export function getRunSettings(choice, table) {
  return { settingsKey: toSettingsKey(choice, table), lr: getSetting(choice, "lr") };
}

/**
 * Return the training settings to send to the server along with a command such as "pause". The learning rate is
 * included only if it has changed. Otherwise a run with branch points would fall back to its initial rate.
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
 * Return whether two choices of settings agree in everything that can be changed during a training run.
 * @param {Choice} one
 * @param {Choice} other
 */
export function hasSameLiveSettings(one, other) {
  return JSON.stringify(getLiveSettings(one)) === JSON.stringify(getLiveSettings(other));
}
