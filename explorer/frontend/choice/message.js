// JSON messages with a page's settings between Python and the browser, validated on receipt.

import { widenBounds } from "./choice.js";
import { getCatalogue, findEntry, addCustomEntry, getCustomEntries } from "./entries.js";
import { isView, pickView } from "./view.js";

/** @import { Choice } from "./choice.js" */

/**
 * Parse a JSON message as the settings of a page, and make its formulas available. Throws an Error if it is invalid.
 * @param {*} message @returns {Choice}
 */
export function parseMessage(message) {
  const {
    op,
    rules,
    hide,
    slots,
    parameters,
    learns,
    slow,
    training,
    own: customEntries,
  } = requireRecord(message);
  for (const kind of /** @type {const} */ (["op", "rule", "loss"]))
    requireList(requireRecord(customEntries)[kind] ?? []).forEach((entry) => addCustomEntry(kind, entry));
  const isKnown =
    typeof op === "string" &&
    findEntry("op", op) &&
    requireList(rules).length > 0 &&
    rules.every((/** @type {string} */ key) => findEntry("rule", key));
  if (
    !isKnown ||
    !isView(message) ||
    !findEntry("loss", message.f) ||
    !Object.values(requireRecord(parameters)).every(Number.isFinite)
  )
    throwUnreadable();
  const allSlots = new Set(Array(getCatalogue().limits.rules).keys());
  const usedSlots = new Set(requireList(slots));
  if (usedSlots.size !== rules.length || ![...usedSlots].every((slot) => allSlots.has(slot)))
    throwUnreadable();
  if (![slow, learns, ...Object.values(requireRecord(training))].every((text) => typeof text === "string"))
    throwUnreadable();
  const chosenRules = rules.map((/** @type {string} */ key, /** @type {number} */ index) => ({
    key,
    slot: slots[index],
    hidden: requireList(hide).includes(key),
  }));
  return widenBounds({
    op,
    rules: chosenRules,
    parameters,
    learns,
    ...pickView(message),
    bounds: {},
    slow,
    training,
  });
}

/** Encode the settings of a page as a JSON message for ``parseMessage``. @param {Choice} choice */
export function toMessage(choice) {
  const { op, rules, parameters, learns, slow, training } = choice;
  return {
    ...{ op, parameters, learns, slow, training },
    ...pickView(choice),
    rules: rules.map(({ key }) => key),
    hide: rules.filter(({ hidden }) => hidden).map(({ key }) => key),
    slots: rules.map(({ slot }) => slot),
    own: getCustomEntries(choice),
  };
}

/** Return a value if it is a plain object. Throws an Error otherwise. @param {*} value @returns {Object<string, *>} */
function requireRecord(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : throwUnreadable();
}

/** Return a value if it is an array. Throws an Error otherwise. @param {*} value @returns {*[]} */
function requireList(value) {
  return Array.isArray(value) ? value : throwUnreadable();
}

/** @returns {never} */
function throwUnreadable() {
  throw new Error("The page could not read the server's message: reload the page.");
}
