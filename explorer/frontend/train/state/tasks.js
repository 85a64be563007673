// Tasks and settings of a choice: what a task brings along, and what else is set. No page.

import { getCatalogue, findEntry, explainTrainingRefusal } from "../../choice/entries.js";
import { parseLearning } from "../../choice/learning.js";
import { getControls, getEntries, dropLostLearning, widenBounds } from "../../choice/choice.js";
import { prepareTraining, dropLostPanel } from "../../choice/learning-panel.js";
import { valueOf } from "../../formula/controls.js";
import { formatShort } from "../../formula/numbers.js";
import { plain, pointsOf } from "./branches.js";
import { NO_TABLE } from "./own-table.js";

/** @import { Choice } from "../../choice/choice.js" */
/**
 * A task, as Python declares it. ``defaults`` are the texts of all settings but the task, as a link has
 * them; ``begins`` is what a choice of it begins with; ``picture`` is drawn small.
 * @typedef {{key: string, label: string, purpose: string, kind: string, metric: string|null,
 *   chance: number|null, site: Site, note: string, of_own_op: string, defaults: Object<string, string>,
 *   begins: {op: string, rules: string[], parameters: Object<string, number>},
 *   picture: {points: [number, number, number][]}|{grid: number[][]}|null}} Task
 * The site of the op in the net of a task, as ``OpSite`` in Python has it; ``output``: in its last layer too.
 * @typedef {{key: string, per_example: boolean, fires: boolean, output: boolean, maps: boolean}} Site
 * One setting. ``words`` are labels by what it may be beside a number.
 * @typedef {{name: string, kind: "choice"|"whole"|"log"|"widths"|"switch"|"names", label: string, meaning: string,
 *   low: number, high: number, live: boolean, words: Object<string, string>}} Setting
 */

const FIRST_SEEDS = "5"; // of who has set nothing: what is said of one seed alone has no uncertainty
const OF_OWN_OP = ["learn", "learn_rate", "learn_each"]; // what goes with an op that stays
const OF_ANY_TASK = ["seed", "seeds", "pace", "device", "controls", "equal"]; // what means the same whatever is learnt

/** Why the net of the task does not train an op or a rule of a choice, "" where it does. @param {Choice} choice */
export function untrained(choice) {
  const { op, rules } = getEntries(choice);
  const later = branchPoints(choice).map(({ name, value }) =>
    findEntry(name === "op" ? "op" : "rule", value),
  );
  const { fires } = taskOf(choice).site;
  const refusals = [op, ...rules, ...later].map((entry) => entry && explainTrainingRefusal(entry, fires));
  return refusals.find(Boolean) ?? "";
}

/**
 * The words on the task of a choice, and on how a net with its op, and with those of branches, is judged.
 * @param {Choice} choice
 */
export function wordsOfTask(choice) {
  const { purpose, note, of_own_op: ofOwnOp } = taskOf(choice);
  const judging = isJudged(choice) ? judgingOf(choice) : [];
  return [purpose, hasOwnOp(choice) ? ofOwnOp : "", note, ...judging].filter(Boolean).join(" ");
}

/** Whether the op of a choice is the one its task begins with, and stays so. @param {Choice} choice */
function hasOwnOp(choice) {
  const { op: own, parameters } = taskOf(choice).begins;
  const { op, rules } = getEntries(choice);
  const learning = parseLearning(op, rules, choice.training.learn ?? "");
  const learns = learning.filter((each) => each.rules.some((one) => one.learns)).map(({ name }) => name);
  const isOther = (/** @type {{name: string, default: number}} */ { name, default: usual }) =>
    learns.includes(name) || (choice.parameters[name] ?? usual) !== (parameters[name] ?? usual);
  const later = branchPoints(choice).some(({ name }) => name === "op");
  return op.key === own && !later && !op.parameters.some(isOther);
}

/** Whether nets are judged by data that they do not learn from. @param {Choice} choice */
export function isJudged(choice) {
  const { metric, kind } = taskOf(choice);
  return metric !== null || kind === "own";
}

/** Sentences on judging, where the op or that of a branch draws. @param {Choice} choice */
function judgingOf(choice) {
  const keys = branchPoints(choice).flatMap(({ name, value }) => (name === "op" ? [value] : []));
  const others = [...new Set(keys)].filter((key) => key !== choice.op).map((key) => findEntry("op", key));
  const later = others.map((op) => op?.judging && `${op.label}: ${withSmallLetter(op.judging)}`);
  return [getEntries(choice).op.judging, ...later];
}

/** @param {string} sentence */
function withSmallLetter(sentence) {
  return sentence[0].toLowerCase() + sentence.slice(1);
}

/** The branch points of a choice that change the op or a rule. @param {Choice} choice */
function branchPoints({ training, rules }) {
  const keys = rules.map(({ key }) => key);
  return pointsOf(training.branch, keys).filter(({ name }) => name !== "lr");
}

/** @returns {Task[]} in the order of the picker */
export function tasks() {
  return getCatalogue().tasks;
}

/** @returns {Setting[]} all but the task, which has its own picker */
export function settings() {
  return getCatalogue().settings.filter((/** @type {Setting} */ { name }) => name !== "task");
}

/**
 * The task of a choice: a link without one means the documents' net.
 * @param {Choice} choice
 * @returns {Task}
 */
export function taskOf({ training }) {
  return /** @type {Task} */ (tasks().find(({ key }) => key === (training.task ?? getCatalogue().usualTask)));
}

/** The value of a setting as a link writes it. @param {Choice} choice @param {string} name @returns {string} */
export function settingText(choice, name) {
  return choice.training[name] ?? taskOf(choice).defaults[name];
}

/**
 * The same choice with another value of a setting; a value that the task sets itself is left out.
 * @param {Choice} choice
 * @param {string} name
 * @param {string} text
 * @returns {Choice}
 */
export function withSetting(choice, name, text) {
  const { [name]: _, ...others } = choice.training;
  const usual = taskOf(choice).defaults[name];
  const isUsual = text === usual || (text !== "" && Number(text) === Number(usual));
  return dropLostPanel(choice, { ...choice, training: isUsual ? others : { ...others, [name]: text } });
}

/**
 * The settings that may change while a run goes on.
 * @param {Choice} choice
 * @returns {Object<string, string>}
 */
export function liveOf(choice) {
  const live = settings().filter(({ live }) => live);
  return Object.fromEntries(live.map(({ name }) => [name, settingText(choice, name)]));
}

/**
 * The settings that begin a new run when they change, as one text. ``table`` is the visitor's own.
 * @param {Choice} choice
 * @param {import("./own-table.js").OwnTable} table
 */
export function settingsKey(choice, table) {
  const lasting = settings()
    .filter(({ live }) => !live)
    .map(({ name }) => settingText(choice, name));
  const rules = choice.rules.map(({ key }) => key);
  const points = plain(pointsOf(choice.training.branch, rules));
  return JSON.stringify([choice.op, rules, choice.parameters, dataKey(choice, table), lasting, points]);
}

/**
 * What is learnt from, as a short text: runs of another task or table are not to be compared.
 * @param {Choice} choice
 * @param {import("./own-table.js").OwnTable} table
 */
export function dataKey(choice, table) {
  const { key, kind } = taskOf(choice);
  return kind === "own" ? `${key} ${markOf(JSON.stringify(table))}` : key;
}

/**
 * What an earlier run has other than a choice, in a few words: its op, else a setting or parameter; "" where only the
 * rules differ, or nothing.
 * @param {Choice} past
 * @param {Choice} now
 */
export function differenceOf(past, now) {
  if (past.op !== now.op) return findEntry("op", past.op)?.label ?? "";
  const other = settings().find(({ name }) => settingText(past, name) !== settingText(now, name));
  if (other) return `${other.label} ${settingText(past, other.name)}`;
  const names = Object.keys({ ...past.parameters, ...now.parameters });
  const name = names.find((each) => past.parameters[each] !== now.parameters[each]);
  if (!name) return "";
  const control = getControls(past).find((each) => each.name === name);
  return control ? `${name} = ${formatShort(valueOf(past.parameters, control))}` : "";
}

/** Whether runs of two choices end alike, on the same table where there is one. @param {Choice} one @param {Choice} other */
export function endsAlike(one, other) {
  const [its, others] = [one, other].map((each) => [settingsKey(each, NO_TABLE), settingText(each, "lr")]);
  return String(its) === String(others);
}

/**
 * Whether a table is to be learnt that the server has not read yet.
 * @param {{choice: Choice, table: import("./own-table.js").OwnTable, reading: import("./own-table.js").Reading}} state
 */
export function isUnread({ choice, table, reading }) {
  return taskOf(choice).kind === "own" && table.text.trim() !== "" && reading === null;
}

/**
 * Whether a table is to be learnt and there is none.
 * @param {Choice} choice
 * @param {import("./own-table.js").OwnTable} table
 */
export function lacksTable(choice, table) {
  return taskOf(choice).kind === "own" && !table.text.trim();
}

/** A short text that differs where two long ones do, but for one pair in 2³². @param {string} text */
function markOf(text) {
  let mark = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) mark = Math.imul(mark ^ text.charCodeAt(i), 0x01000193);
  return `${text.length} ${mark >>> 0}`;
}

/**
 * Another task with its own settings. Op and rules become those it begins with, unless the visitor has chosen
 * others and the op stands at hidden units there, or where it stands now.
 * @param {Choice} choice
 * @param {string} key
 * @returns {Choice}
 */
export function withTask(choice, key) {
  const [from, to] = [taskOf(choice), taskNamed(key)];
  const stays = !isUntouched(choice, from) && (isAtUnits(to.site) || from.site.key === to.site.key);
  if (stays) return withTaskAlone(choice, key);
  const keys = choice.rules.map(({ key: rule }) => rule);
  return dropLostPanel(choice, begun(onlyLasting(choice, key, OF_ANY_TASK), to, keys));
}

/** Another task with its own settings, but for op and rules. @param {Choice} choice @param {string} key @returns {Choice} */
export function withTaskAlone(choice, key) {
  return dropLostPanel(choice, onlyLasting(choice, key, [...OF_ANY_TASK, ...OF_OWN_OP]));
}

/**
 * Whether a task takes away op and rules that the visitor has chosen, and so is to be asked for.
 * @param {Choice} choice
 * @param {string} key
 */
export function takesOwn(choice, key) {
  const [from, to] = [taskOf(choice), taskNamed(key)];
  return !isUntouched(choice, from) && !isAtUnits(to.site) && from.site.key !== to.site.key;
}

/**
 * Whether another choice lacks something of a choice: its op, its rules, their parameters, or a setting.
 * @param {Choice} choice
 * @param {Choice} other
 */
export function lacks({ op, rules, parameters, learns, training }, other) {
  const { task: _, ...settings } = training;
  const keys = (/** @type {Choice["rules"]} */ each) => each.map(({ key }) => key);
  const ofOp = JSON.stringify([op, keys(rules), parameters, learns]);
  if (ofOp !== JSON.stringify([other.op, keys(other.rules), other.parameters, other.learns])) return true;
  return Object.entries(settings).some(([name, text]) => other.training[name] !== text);
}

/** @param {string} key @returns {Task} */
export function taskNamed(key) {
  return /** @type {Task} */ (tasks().find((task) => task.key === key));
}

/** Whether the op stands at hidden units that do not fire. @param {Site} site */
function isAtUnits({ per_example: perExample, fires }) {
  return perExample && !fires;
}

/** A choice on another task with some of its settings. @param {Choice} choice @param {string} key @param {string[]} names */
function onlyLasting(choice, key, names) {
  const lasting = Object.entries(choice.training).filter(([name]) => names.includes(name));
  return { ...choice, training: { task: key, ...Object.fromEntries(lasting) } };
}

/**
 * The choice with the op and the rules that its task begins with; the controls stay.
 * @param {Choice} choice
 * @returns {Choice}
 */
export function withOwnOp(choice) {
  const keys = choice.rules.map(({ key }) => key);
  return dropLostPanel(choice, begun(choice, taskOf(choice), keys));
}

/** Whether a choice has another op or other rules than its task begins with. @param {Choice} choice */
export function hasOthers(choice) {
  return !isUntouched(choice, taskOf(choice));
}

/**
 * Whether op and rules are those a task begins with, controls aside.
 * @param {Choice} choice
 * @param {Task} task
 */
function isUntouched({ op, rules, parameters }, { begins }) {
  const keys = rules.map(({ key }) => key);
  const own = keys.filter((key) => !getCatalogue().controls.includes(key) || begins.rules.includes(key));
  return (
    JSON.stringify([op, own, parameters]) === JSON.stringify([begins.op, begins.rules, begins.parameters])
  );
}

/**
 * A choice with what a task begins with, and the controls that are among ``rules``.
 * @param {Choice} choice
 * @param {Task} task
 * @param {string[]} rules
 * @returns {Choice}
 */
function begun(choice, { begins }, rules = []) {
  const controls = rules.filter((key) => getCatalogue().controls.includes(key));
  const keys = [...new Set([...begins.rules, ...controls])].slice(0, getCatalogue().limits.rules);
  const chosen = keys.map((key, slot) => ({ key, slot, hidden: false }));
  const { op, parameters } = begins;
  return dropLostLearning(widenBounds({ ...choice, op, rules: chosen, parameters, bounds: {} }));
}

/**
 * The choice with which the page of trainings is entered; from here on it names its task. Who asks for
 * nothing gets the first task; who comes from another page trains op and rules of that page on it; settings
 * without a task are those of a link to the documents' net. What learns on another page does so here.
 * @param {Choice} choice
 * @param {"nothing"|"link"|"page"} by what brought the visitor here
 * @returns {Choice}
 */
export function entered(choice, by) {
  const next = onTask(choice, by);
  return by === "page" ? prepareTraining(next) : next;
}

/** @param {Choice} choice @param {"nothing"|"link"|"page"} by @returns {Choice} */
function onTask(choice, by) {
  if (choice.training.task) return choice;
  const { firstTask, usualTask } = getCatalogue();
  const first = { ...choice, training: { task: firstTask, seeds: FIRST_SEEDS } };
  if (by === "nothing") return begun(first, taskOf(first));
  const isSet = by === "link" || Object.keys(choice.training).length > 0;
  return isSet ? { ...choice, training: { task: usualTask, ...choice.training } } : first;
}
