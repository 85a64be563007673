// Bodies of the requests that start or control a training run.

import { toQuery } from "../../choice/address.js";
import { isUnderway } from "../state/history.js";
import { getLiveSettings, toSettingsKey, getSetting, getSelectedTask } from "../state/tasks.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { OwnTable } from "../state/own-table.js" */
/**
 * The identity of a run. ``settingsKey``: a key of all settings whose change starts a new run; ``lr``: the initial
 * rate.
 * @typedef {{settingsKey: string, lr: string}} RunSettings
 * @typedef {RunSettings & {query: string, table: OwnTable|null, branch: string[]}} Order a request to start a run;
 *   ``query``: settings as in a link; ``table``, ``branch``: settings that are not in the link
 */

/**
 * Return the request that starts a run with the current settings.
 * @param {Choice} choice @param {OwnTable} table the user's table @returns {Order}
 */
export function makeRunRequest(choice, table) {
  const branch = (choice.training.branch ?? "").split("\n").filter(Boolean);
  const ownTable = getSelectedTask(choice).kind === "own" ? table : null;
  return { query: toQuery(choice), branch, table: ownTable, ...getRunSettings(choice, table) };
}

/**
 * Return the initial learning rate of a run, and a key of all other settings whose change needs a new run.
 * @param {Choice} choice @param {OwnTable} table the user's table @returns {RunSettings}
 */
export function getRunSettings(choice, table) {
  return { settingsKey: toSettingsKey(choice, table), lr: getSetting(choice, "lr") };
}

/**
 * Return the settings to send along with a command such as "pause". The learning rate is left out unless changed during
 * the run: otherwise a run with branch points would return to its initial rate.
 * @param {import("../state/state.js").State} state @param {Choice} choice @param {string} command
 */
export function getCommandSettings(state, choice, command) {
  const { lr, ...rest } = getLiveSettings(choice);
  const isFirst = state.trained && getSetting(state.trained, "lr") !== lr && !isUnderway(state);
  const rate = command === "reset" || isFirst ? lr : state.rate;
  return { ...rest, ...(rate !== null && { lr: rate }) };
}

/**
 * Return whether two choices agree in all settings that can change during a run.
 * @param {Choice} one @param {Choice} other
 */
export function hasSameLiveSettings(one, other) {
  return JSON.stringify(getLiveSettings(one)) === JSON.stringify(getLiveSettings(other));
}
