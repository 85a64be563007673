// The task and the training settings among the page's settings.

import { getCatalogue, findEntry, explainTrainingRefusal } from "../../choice/entries.js";
import { parseLearning } from "../../choice/learning.js";
import { getControls, getEntries, dropLostLearning, widenBounds } from "../../choice/choice.js";
import { prepareTraining, dropLostPanel } from "../../choice/learning-panel.js";
import { getControlValue, getDisplayName } from "../../formula/controls.js";
import { formatShort, writeMinus } from "../../formula/numbers.js";
import { normalizePoints, parseBranches } from "./branches.js";
import { NO_TABLE } from "./own-table.js";

/** @import { Choice } from "../../choice/choice.js" */
/**
 * Tasks and settings, as declared by Python.
 * @typedef {{key: string, label: string, purpose: string, kind: string, metric: string|null, chance: number|null, site:
 *   Site, note: string, of_own_op: string, defaults: Object<string, string>, begins: {op: string, rules: string[],
 *   parameters: Object<string, number>}, picture: {points: [number, number, number][]}|{grid: number[][]}|null, panels:
 *   string[]}} Task a data set with a net to train on it; ``chance``: the score of random guessing, or null;
 *   ``of_own_op``: a sentence about its initial op; ``defaults``: all other settings, as in a link; ``begins``: the
 *   initial op, rules and parameters; ``picture``: a thumbnail; ``panels``: the keys of the instruments that apply
 * @typedef {{key: string, per_example: boolean, fires: boolean, output: boolean, maps: boolean}} Site the position of
 *   the op in the net, as ``OpSite`` in Python; ``output``: also in the last layer
 * @typedef {{name: string, kind: "choice"|"whole"|"log"|"widths"|"switch"|"names", label: string, meaning: string, low:
 *   number, high: number, live: boolean, words: Object<string, string>}} Setting a training setting; ``live``: whether
 *   it can change during a run; ``words``: labels of values that are no numbers
 */

const FIRST_SEEDS = "5"; // default number of seeds; a single one would not show the uncertainty
const OP_SETTINGS = ["learn", "learn_rate", "learn_each"]; // settings that stay as long as the op does
// settings that do not depend on the task
const GENERAL_SETTINGS = ["seed", "seeds", "pace", "device", "controls", "equal", "hidden"];

/** Return what to do about a field with invalid text. @param {string} name its label */
export const explainInvalid = (name) => `Change “${name}” first: its value is impossible and is not used.`;

/** Return why the net cannot be trained with an op or rule of the run, or "" if it can. @param {Choice} choice */
export function explainUntrained(choice) {
  const { op, rules } = getEntries(choice);
  const later = getEntryBranches(choice).map(({ name, value }) =>
    findEntry(name === "op" ? "op" : "rule", value),
  );
  const { fires } = getSelectedTask(choice).site;
  const refusals = [op, ...rules, ...later].map((entry) => entry && explainTrainingRefusal(entry, fires));
  return refusals.find(Boolean) ?? "";
}

/** Return the parameters with a set value, as in "c = 0.5". @param {Choice} choice */
export function describeParameters(choice) {
  const set = getControls(choice).filter(({ name }) => name in choice.parameters);
  return set.map((control) => {
    const value = getControlValue(choice.parameters, control);
    return `${getDisplayName(control.parameter)} = ${writeMinus(formatShort(value))}`;
  });
}

/** Return the length of a run, how long it takes at its pace, and how it begins. @param {Choice} choice */
export function describeRun(choice) {
  const steps = Number(getSetting(choice, "steps"));
  const pace = Number(getSetting(choice, "pace"));
  const time = pace ? `, about ${Math.max(Math.round(steps / pace), 1)} s` : "";
  const count = choice.rules.length;
  const all = count === 2 ? "both" : `all ${count}`;
  const seeds = Number(getSetting(choice, "seeds"));
  const start = count > 1 ? `; ${all} begin with the same weights` : "";
  const each = seeds > 1 ? `, ${seeds} seeds` : "";
  return `${steps.toLocaleString("en-US")} steps${each}${time}${start}.`;
}

/** Describe the task, and how its nets are evaluated. @param {Choice} choice */
export function describeTask(choice) {
  const { purpose, note, of_own_op: ofOwnOp } = getSelectedTask(choice);
  const judging = isJudged(choice) ? describeJudging(choice) : [];
  return [purpose, hasTaskOp(choice) ? ofOwnOp : "", note, ...judging].filter(Boolean).join(" ");
}

/** Return whether a run has the task's own op throughout, and with its initial parameters. @param {Choice} choice */
function hasTaskOp(choice) {
  const { op: taskOp, parameters } = getSelectedTask(choice).begins;
  const { op, rules } = getEntries(choice);
  const learning = parseLearning(op, rules, choice.training.learn ?? "");
  const learns = learning.filter((each) => each.rules.some((one) => one.learns)).map(({ name }) => name);
  const isOther = (/** @type {{name: string, default: number}} */ { name, default: initial }) =>
    learns.includes(name) || (choice.parameters[name] ?? initial) !== (parameters[name] ?? initial);
  const later = getEntryBranches(choice).some(({ name }) => name === "op");
  return op.key === taskOp && !later && !op.parameters.some(isOther);
}

/** Return whether the task has held-out data, as the user's own table always has. @param {Choice} choice */
export function isJudged(choice) {
  const { metric, kind } = getSelectedTask(choice);
  return metric !== null || kind === "own";
}

/** @param {Choice} choice */
function describeJudging(choice) {
  const keys = getEntryBranches(choice).flatMap(({ name, value }) => (name === "op" ? [value] : []));
  const ops = [...new Set(keys)].filter((key) => key !== choice.op).map((key) => findEntry("op", key));
  const later = ops.map(
    (op) => op?.judging && `${op.label}: ${op.judging[0].toLowerCase()}${op.judging.slice(1)}`,
  );
  return [getEntries(choice).op.judging, ...later];
}

/** @param {Choice} choice */
function getEntryBranches({ training, rules }) {
  const keys = rules.map(({ key }) => key);
  return parseBranches(training.branch, keys).filter(({ name }) => name !== "lr");
}

/** Return the name of a training setting in a sentence. @param {string} name */
export function nameSetting(name) {
  const label = getSettings().find((setting) => setting.name === name)?.label ?? name;
  return name === "lr" ? name : label.toLowerCase();
}

/** Return all training tasks in the order of the task picker. @returns {Task[]} */
export function getTasks() {
  return getCatalogue().tasks;
}

/** Return the declarations of all training settings except the task. @returns {Setting[]} */
export function getSettings() {
  return getCatalogue().settings.filter((/** @type {Setting} */ { name }) => name !== "task");
}

/** Return the selected training task, or the default task. @param {Choice} choice @returns {Task} */
export function getSelectedTask({ training }) {
  return /** @type {Task} */ (
    getTasks().find(({ key }) => key === (training.task ?? getCatalogue().usualTask))
  );
}

/**
 * Return a training setting as text, such as "0.01". If it is not set, the default of the task is returned.
 * @param {Choice} choice @param {string} name @returns {string}
 */
export function getSetting(choice, name) {
  return choice.training[name] ?? getSelectedTask(choice).defaults[name];
}

/**
 * Return settings with one training setting changed. A default value is not stored.
 * @param {Choice} choice @param {string} name @param {string} text @returns {Choice}
 */
export function withSetting(choice, name, text) {
  const { [name]: _, ...rest } = choice.training;
  const taskDefault = getSelectedTask(choice).defaults[name] ?? "";
  const isDefault = text === taskDefault || (text !== "" && Number(text) === Number(taskDefault));
  return dropLostPanel(choice, { ...choice, training: isDefault ? rest : { ...rest, [name]: text } });
}

/**
 * Return the text of each training setting that can change during a run, by name.
 * @param {Choice} choice @returns {Object<string, string>}
 */
export function getLiveSettings(choice) {
  const live = getSettings().filter(({ live }) => live);
  return Object.fromEntries(live.map(({ name }) => [name, getSetting(choice, name)]));
}

/**
 * Return a key of all settings whose change needs a new run.
 * @param {Choice} choice @param {import("./own-table.js").OwnTable} table the user's table
 */
export function toSettingsKey(choice, table) {
  const lasting = getSettings()
    .filter(({ live }) => !live)
    .map(({ name }) => getSetting(choice, name));
  const rules = choice.rules.map(({ key }) => key);
  const points = normalizePoints(parseBranches(choice.training.branch, rules));
  return JSON.stringify([choice.op, rules, choice.parameters, toDataKey(choice, table), lasting, points]);
}

/**
 * Return a short key of the training data. Only runs with equal keys can be compared.
 * @param {Choice} choice @param {import("./own-table.js").OwnTable} table the user's table
 */
export function toDataKey(choice, table) {
  const { key, kind } = getSelectedTask(choice);
  return kind === "own" ? `${key} ${hashText(JSON.stringify(table))}` : key;
}

/**
 * Return whether two choices lead to equal trained nets, with the same table of the user.
 * @param {Choice} one @param {Choice} other
 */
export function hasSameEnd(one, other) {
  const [key, otherKey] = [one, other].map((each) => [toSettingsKey(each, NO_TABLE), getSetting(each, "lr")]);
  return String(key) === String(otherKey);
}

/**
 * Return whether the user's table is needed and given, but not analysed yet.
 * @param {{choice: Choice, table: import("./own-table.js").OwnTable, reading: import("./own-table.js").Reading}} state
 */
export function isUnread({ choice, table, reading }) {
  return getSelectedTask(choice).kind === "own" && table.text.trim() !== "" && reading === null;
}

/**
 * Return whether the task needs a table and the user has given none.
 * @param {Choice} choice @param {import("./own-table.js").OwnTable} table
 */
export function isTableMissing(choice, table) {
  return getSelectedTask(choice).kind === "own" && !table.text.trim();
}

/** Return a hash of a text: its length and 32 bits. @param {string} text */
function hashText(text) {
  let mark = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) mark = Math.imul(mark ^ text.charCodeAt(i), 0x01000193);
  return `${text.length} ${mark >>> 0}`;
}

/**
 * Return settings with another task and its defaults; the same task changes nothing. Op and rules stay if the new task
 * applies the op where the old one does, or to hidden units and the user has changed them; else they become the task's.
 * @param {Choice} choice @param {string} key the new task @returns {Choice}
 */
export function withTask(choice, key) {
  const [current, next] = [getSelectedTask(choice), findTask(key)];
  if (current === next) return choice;
  const isSameSite = current.site.key === next.site.key;
  if (isSameSite || (isAtUnits(next.site) && hasOwnEntries(choice))) return withTaskAlone(choice, key);
  const keys = choice.rules.map(({ key: rule }) => rule);
  return dropLostPanel(choice, withTaskStart(moveToTask(choice, key, GENERAL_SETTINGS), next, keys));
}

/**
 * Return settings with another task, but the same op and rules.
 * @param {Choice} choice @param {string} key the new task @returns {Choice}
 */
export function withTaskAlone(choice, key) {
  return dropLostPanel(choice, moveToTask(choice, key, [...GENERAL_SETTINGS, ...OP_SETTINGS]));
}

/**
 * Return whether another task would replace an op or rules that the user has chosen, so that the page has to ask.
 * @param {Choice} choice @param {string} key the new task
 */
export function willReplaceEntries(choice, key) {
  const [current, next] = [getSelectedTask(choice), findTask(key)];
  return !isUntouched(choice, current) && !isAtUnits(next.site) && current.site.key !== next.site.key;
}

/**
 * Return whether settings contain an op, rule, parameter or training setting that ``other`` lacks or has otherwise.
 * @param {Choice} choice @param {Choice} other
 */
export function hasMore({ op, rules, parameters, learns, training }, other) {
  const { task: _, ...settings } = training;
  const getKeys = (/** @type {Choice["rules"]} */ each) => each.map(({ key }) => key);
  const ofOp = JSON.stringify([op, getKeys(rules), parameters, learns]);
  if (ofOp !== JSON.stringify([other.op, getKeys(other.rules), other.parameters, other.learns])) return true;
  return Object.entries(settings).some(([name, text]) => other.training[name] !== text);
}

/** Return the training task with a given key. @param {string} key @returns {Task} */
export function findTask(key) {
  return /** @type {Task} */ (getTasks().find((task) => task.key === key));
}

/** Return whether the op is on hidden units that do not spike. @param {Site} site */
function isAtUnits({ per_example: perExample, fires }) {
  return perExample && !fires;
}

/** @param {Choice} choice @param {string} key the new task @param {string[]} names the settings that stay */
function moveToTask(choice, key, names) {
  const lasting = Object.entries(choice.training).filter(([name]) => names.includes(name));
  return { ...choice, training: { task: key, ...Object.fromEntries(lasting) } };
}

/** Return settings with the op and rules of the task. Control rules stay. @param {Choice} choice @returns {Choice} */
export function withTaskOp(choice) {
  const keys = choice.rules.map(({ key }) => key);
  return dropLostPanel(choice, withTaskStart(choice, getSelectedTask(choice), keys));
}

/** Return whether the user has replaced the task's initial op, rules or parameters. @param {Choice} choice */
export function hasOwnEntries(choice) {
  return !isUntouched(choice, getSelectedTask(choice));
}

/**
 * Return whether op, rules and parameters are the task's initial ones, apart from control rules.
 * @param {Choice} choice @param {Task} task
 */
function isUntouched({ op, rules, parameters }, { begins }) {
  const keys = rules.map(({ key }) => key);
  const relevant = keys.filter((key) => !getCatalogue().controls.includes(key) || begins.rules.includes(key));
  return (
    JSON.stringify([op, relevant, parameters]) ===
    JSON.stringify([begins.op, begins.rules, begins.parameters])
  );
}

/**
 * @param {Choice} choice @param {Task} task @param {string[]} rules the present rules; control rules stay
 * @returns {Choice}
 */
function withTaskStart(choice, { begins }, rules = []) {
  const controls = rules.filter((key) => getCatalogue().controls.includes(key));
  const keys = [...new Set([...begins.rules, ...controls])].slice(0, getCatalogue().limits.rules);
  const entries = keys.map((key, slot) => ({ key, slot, hidden: false }));
  const { op, parameters } = begins;
  return dropLostLearning(widenBounds({ ...choice, op, rules: entries, parameters, bounds: {} }));
}

/**
 * Return the settings with which the Train page opens. They always have a task: the first one if the user has chosen
 * nothing or comes from Explore, whose op and rules are then trained and whose parameter with an open panel learns. A
 * link without a task means the default task.
 * @param {Choice} choice
 * @param {"nothing"|"link"|"page"} origin the source of the settings: defaults, a link, or the previous page
 * @returns {Choice}
 */
export function enterTraining(choice, origin) {
  const next = assignTask(choice, origin);
  return origin === "page" ? prepareTraining(next) : next;
}

/** @param {Choice} choice @param {"nothing"|"link"|"page"} origin the source of the settings @returns {Choice} */
function assignTask(choice, origin) {
  if (choice.training.task) return choice;
  const { firstTask, usualTask } = getCatalogue();
  const first = { ...choice, training: { task: firstTask, seeds: FIRST_SEEDS } };
  if (origin === "nothing") return withTaskStart(first, getSelectedTask(first));
  const isSet = origin === "link" || Object.keys(choice.training).length > 0;
  return isSet ? { ...choice, training: { task: usualTask, ...choice.training } } : first;
}
