// A choice as the query of a link, and the browser's history of choices.

import { choiceControls, entriesOf } from "./choice.js";
import { catalogue, learn, ownEntries } from "./entries.js";
import { afterFrame, setText } from "../elements/dom.js";
import { held } from "../formula/records.js";
import { followSteps } from "./steps.js";

/** @typedef {import("./choice.js").Choice} Choice */

const FRAME = ["embed", "embed_options"]; // Streamlit's own words in an address

/**
 * The query of a choice, without what is at its default.
 * @param {Choice} choice
 */
export function queryOf(choice) {
  const { defaults, words } = catalogue().link;
  const query = new URLSearchParams({ op: choice.op });
  for (const rule of choice.rules) query.append("rule", rule.key);
  for (const rule of choice.rules) if (rule.hidden) query.append("hide", rule.key);
  const colours = choice.rules.map(({ slot }) => slot + 1);
  if (colours.some((colour, place) => colour !== place + 1)) query.append("colours", colours.join(""));
  for (const { name } of choiceControls(choice)) {
    const value = held(choice.parameters, name);
    if (value !== undefined) query.append(words.includes(name) ? `p.${name}` : name, String(value));
  }
  if (String(choice.range) !== String(defaults.range))
    choice.range.forEach((end) => query.append("range", String(end)));
  if (choice.g !== defaults.g) query.append("g", String(choice.g));
  if (choice.section) query.append("section", choice.section);
  for (const [name, text] of Object.entries(choice.training)) query.append(name, text);
  return String(query);
}

/** Whether an address asks for nothing of ours. @param {string} search */
export function isBare(search) {
  return [...new URLSearchParams(search).keys()].every((name) => FRAME.includes(name));
}

/** Whether a query fits into a link. @param {string} query */
export function fits(query) {
  return query.length <= catalogue().limits.query;
}

/** The whole address of a choice. @param {Choice} choice */
function addressOf(choice) {
  const kept = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(location.search))
    if (FRAME.includes(name)) kept.append(name, value);
  const query = queryOf(choice);
  const parts = [fits(query) ? query : "", String(kept)].filter(Boolean);
  return location.pathname + (parts.length ? `?${parts.join("&")}` : "");
}

/** The title of a page that shows a choice. @param {Choice} choice */
export function titleOf(choice) {
  const { op, rules } = entriesOf(choice);
  return `${op.label}: ${rules.map((rule) => rule.label).join(", ")} · Gradient explorer`;
}

/**
 * Keep the address bar, the page's title and Back and Forward in step with a store. Returns what ends it.
 * @param {import("./store.js").Store} store
 */
export function followAddress(store) {
  const page = location.pathname;
  let last = /** @type {string|null} */ (null);
  let unsaid = /** @type {(() => void)|null} */ (null);
  const say = () => {
    if (location.pathname === page) unsaid?.(); // another page's address is not ours
    unsaid = null;
  };
  const stop = store.subscribe((choice, { phase, thing, origin }) => {
    if (phase !== "settled") return;
    const again = origin !== "hand" || (thing !== null && thing === last);
    if (origin === "hand" || origin === "history") last = thing;
    if (origin === "history") unsaid = null;
    say();
    const address = origin === "arrival" ? location.href : addressOf(choice);
    unsaid = () => {
      setText(titleElement(), titleOf(choice));
      if (origin !== "history") write(choice, address, again);
    };
    if (origin === "hand")
      afterFrame(say); // the browser takes longer over a new address than over a curve
    else say();
  });
  const popped = (/** @type {PopStateEvent} */ event) => {
    const state = event.state?.instrument;
    if (!state) return;
    if (location.pathname === page) event.stopImmediatePropagation(); // no change of page
    for (const kind of /** @type {const} */ (["op", "rule"]))
      state.own[kind].forEach((/** @type {*} */ entry) => learn(kind, entry));
    store.change(state.choice, { origin: "history" });
  };
  const leaveSteps = followSteps(popped);
  return () => {
    stop();
    say();
    leaveSteps();
  };
}

/**
 * @param {Choice} choice
 * @param {string} address
 * @param {boolean} again in the place of the present entry of the history
 */
function write(choice, address, again) {
  if (!again && address === location.pathname + location.search) return;
  const state = { instrument: { choice, own: ownEntries(choice) } };
  history[again ? "replaceState" : "pushState"](state, "", address);
}

function titleElement() {
  return document.querySelector("title") ?? document.head.appendChild(document.createElement("title"));
}
