// Links to a page: the user's op, rules and settings as the query string of an address.

import { getControls, getEntries } from "./choice.js";
import { getCatalogue } from "./entries.js";
import { toLinkTexts } from "./view.js";
import { getOwn } from "../formula/records.js";

/** @import { Choice } from "./choice.js" */

/** The query parameters that affect how a page is displayed but are no settings of the user. */
export const FRAME_WORDS = ["embed", "embed_options", "present"];

/** Encode the user's settings as the query string of a link. Default values are left out. @param {Choice} choice */
export function toQuery(choice) {
  const query = new URLSearchParams({ op: choice.op });
  for (const rule of choice.rules) query.append("rule", rule.key);
  for (const rule of choice.rules) if (rule.hidden) query.append("hide", rule.key);
  const colours = choice.rules.map(({ slot }) => slot + 1);
  if (colours.some((colour, index) => colour !== index + 1)) query.append("colours", colours.join(""));
  for (const [name, value] of Object.entries(getLinkedParameters(choice)))
    query.append(toLinkWord(name), String(value));
  for (const [name, text] of toLinkTexts(choice)) query.append(name, text);
  if (choice.learns) query.append("learns", choice.learns);
  if (choice.slow) query.append("slow", choice.slow);
  const { branch = "", ...training } = choice.training;
  for (const [name, text] of Object.entries(training)) query.append(name, text);
  return appendBranches(String(query), branch.split("\n").filter(Boolean));
}

/**
 * Return the parameter values that a link has to contain, by control name: also a default, if the link sets an op's
 * parameter of the same name but another meaning. The bare name would set both, as in old links.
 * @param {Choice} choice @returns {Record<string, number>}
 */
export function getLinkedParameters(choice) {
  const pairs = getControls(choice).flatMap(({ name, parameter }) => {
    const isAmbiguous = parameter.plain && getOwn(choice.parameters, parameter.plain) !== undefined;
    const value = getOwn(choice.parameters, name) ?? (isAmbiguous ? parameter.default : undefined);
    return value === undefined ? [] : [/** @type {const} */ ([name, value])];
  });
  return Object.fromEntries(pairs);
}

/** Return the name of the query parameter for a parameter of an op or rule. @param {string} name */
export function toLinkWord(name) {
  return getCatalogue().link.words.includes(name) ? `p.${name}` : name;
}

/**
 * Append the branch points of a training run to a query string: all, or as many of the last ones as fit.
 * @param {string} query
 * @param {string[]} branches texts of branch points, which are steps at which the run continued with other settings
 * @returns {string} the longer query
 */
function appendBranches(query, branches) {
  const full = [query, ...branches.map((branch) => String(new URLSearchParams({ branch })))].join("&");
  return isQueryShort(full) || !branches.length ? full : appendBranches(query, branches.slice(1));
}

/** Return how many branch points of a training run fit into its link. @param {Choice} choice */
export function countLinkedBranches(choice) {
  return new URLSearchParams(toQuery(choice)).getAll("branch").length;
}

/** Return whether a query string contains no settings, only query parameters for the display. @param {string} search */
export function isBareAddress(search) {
  return [...new URLSearchParams(search).keys()].every((name) => FRAME_WORDS.includes(name));
}

/** Return whether a query string fits into the maximum length of a link. @param {string} query */
export function isQueryShort(query) {
  return query.length <= getCatalogue().limits.query;
}

/**
 * Return the path and query of the address of a page with some settings. Settings that do not fit into a link are left
 * out.
 * @param {Choice} choice
 * @param {{pathname: string, search: string}} page the page, whose query parameters for the display are kept
 */
export function toAddress(choice, { pathname, search }) {
  const frameParams = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(search))
    if (FRAME_WORDS.includes(name)) frameParams.append(name, value);
  const query = toQuery(choice);
  const parts = [isQueryShort(query) ? query : "", String(frameParams)].filter(Boolean);
  return pathname + (parts.length ? `?${parts.join("&")}` : "");
}

/** Return the title of a page with some settings. @param {Choice} choice */
export function toTitle(choice) {
  const { op, rules } = getEntries(choice);
  return `${op.label}: ${rules.map((rule) => rule.label).join(", ")} · Gradient explorer`;
}
