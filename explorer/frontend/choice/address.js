// A choice as the query of a link; history.js puts it into the address bar.

import { choiceControls, entriesOf } from "./choice.js";
import { catalogue } from "./entries.js";
import { viewTexts } from "./view.js";
import { held } from "../formula/records.js";

/** @import { Choice } from "./choice.js" */

/** The words of an address that say how a page is shown: two of Streamlit's, and whether it is on a stage. */
export const FRAME = ["embed", "embed_options", "present"];

/** The query of a choice, without values at their default. @param {Choice} choice */
export function queryOf(choice) {
  const query = new URLSearchParams({ op: choice.op });
  for (const rule of choice.rules) query.append("rule", rule.key);
  for (const rule of choice.rules) if (rule.hidden) query.append("hide", rule.key);
  const colours = choice.rules.map(({ slot }) => slot + 1);
  if (colours.some((colour, index) => colour !== index + 1)) query.append("colours", colours.join(""));
  for (const [name, value] of Object.entries(heldParameters(choice)))
    query.append(wordOf(name), String(value));
  for (const [name, text] of viewTexts(choice)) query.append(name, text);
  if (choice.learns) query.append("learns", choice.learns);
  if (choice.slow) query.append("slow", choice.slow);
  const { branch = "", ...training } = choice.training;
  for (const [name, text] of Object.entries(training)) query.append(name, text);
  return withBranches(String(query), branch.split("\n").filter(Boolean));
}

/** The values of a choice that are not at their default, by control name. @param {Choice} choice @returns {Record<string, number>} */
export function heldParameters(choice) {
  const pairs = choiceControls(choice).flatMap(({ name, parameter }) => {
    const value = held(choice.parameters, name) ?? defaultBeside(choice, parameter);
    return value === undefined ? [] : [/** @type {const} */ ([name, value])];
  });
  return Object.fromEntries(pairs);
}

/**
 * The default of a rule's parameter whose name is the op's in another meaning, where the link has the op's: alone
 * that would mean both, as in links from when the two were one.
 * @param {Choice} choice
 * @param {import("../formula/entry.js").Parameter} parameter
 */
function defaultBeside({ parameters }, parameter) {
  return parameter.plain && held(parameters, parameter.plain) !== undefined ? parameter.default : undefined;
}

/** The word of a parameter in a link. @param {string} name */
export function wordOf(name) {
  return catalogue().link.words.includes(name) ? `p.${name}` : name;
}

/**
 * A query with branch points, the last ones that fit.
 * @param {string} query
 * @param {string[]} branches
 * @returns {string}
 */
function withBranches(query, branches) {
  const whole = [query, ...branches.map((branch) => String(new URLSearchParams({ branch })))].join("&");
  return fits(whole) || !branches.length ? whole : withBranches(query, branches.slice(1));
}

/** The number of a choice's branch points in its query. @param {Choice} choice */
export function linkedBranches(choice) {
  return new URLSearchParams(queryOf(choice)).getAll("branch").length;
}

/** Whether an address asks for nothing of ours. @param {string} search */
export function isBare(search) {
  return [...new URLSearchParams(search).keys()].every((name) => FRAME.includes(name));
}

/** Whether a query fits into a link. @param {string} query */
export function fits(query) {
  return query.length <= catalogue().limits.query;
}

/**
 * The address of a choice on a page, without its host.
 * @param {Choice} choice
 * @param {{pathname: string, search: string}} page whose address keeps the words on how it is shown
 */
export function addressOf(choice, { pathname, search }) {
  const framing = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(search))
    if (FRAME.includes(name)) framing.append(name, value);
  const query = queryOf(choice);
  const parts = [fits(query) ? query : "", String(framing)].filter(Boolean);
  return pathname + (parts.length ? `?${parts.join("&")}` : "");
}

/** The title of a page that shows a choice. @param {Choice} choice */
export function titleOf(choice) {
  const { op, rules } = entriesOf(choice);
  return `${op.label}: ${rules.map((rule) => rule.label).join(", ")} · Gradient explorer`;
}
