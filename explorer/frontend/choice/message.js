// The message that holds a choice between Python and the browser: checked before it is used.

import { widened } from "./choice.js";
import { catalogue, find, learn, ownEntries } from "./entries.js";
import { isView, viewOf } from "./view.js";

/** @import { Choice } from "./choice.js" */

/**
 * A choice as Python writes it, with its own formulas.
 * Throws an Error with a sentence where it makes no sense.
 * @param {*} message
 * @returns {Choice}
 */
export function received(message) {
  const { op, rules, hide, slots, parameters, learns, slow, training, own } = record(message);
  for (const kind of /** @type {const} */ (["op", "rule", "loss"]))
    list(record(own)[kind] ?? []).forEach((entry) => learn(kind, entry));
  const known =
    typeof op === "string" &&
    find("op", op) &&
    list(rules).length > 0 &&
    rules.every((/** @type {string} */ key) => find("rule", key));
  if (
    !known ||
    !isView(message) ||
    !find("loss", message.f) ||
    !Object.values(record(parameters)).every(Number.isFinite)
  )
    refuse();
  const free = new Set(Array(catalogue().limits.rules).keys());
  const taken = new Set(list(slots));
  if (taken.size !== rules.length || ![...taken].every((slot) => free.has(slot))) refuse();
  if (![slow, learns, ...Object.values(record(training))].every((text) => typeof text === "string")) refuse();
  const listed = rules.map((/** @type {string} */ key, /** @type {number} */ index) => ({
    key,
    slot: slots[index],
    hidden: list(hide).includes(key),
  }));
  return widened({ op, rules: listed, parameters, learns, ...viewOf(message), bounds: {}, slow, training });
}

/** A choice as Python writes it: ``received`` gives it back. @param {Choice} choice */
export function sentChoice(choice) {
  const { op, rules, parameters, learns, slow, training } = choice;
  return {
    ...{ op, parameters, learns, slow, training },
    ...viewOf(choice),
    rules: rules.map(({ key }) => key),
    hide: rules.filter(({ hidden }) => hidden).map(({ key }) => key),
    slots: rules.map(({ slot }) => slot),
    own: ownEntries(choice),
  };
}

/** @param {*} value @returns {Object<string, *>} */
function record(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : refuse();
}

/** @param {*} value @returns {*[]} */
function list(value) {
  return Array.isArray(value) ? value : refuse();
}

/** @returns {never} */
function refuse() {
  throw new Error("The page could not read the server's message: reload the page.");
}
