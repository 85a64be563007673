// The section Checks: lines on each rule; a line shows its x on the chart.

import { element } from "../../elements/dom.js";
import { fits, queryOf } from "../../choice/address.js";
import { find } from "../../choice/entries.js";
import { defaultView } from "../../choice/view.js";
import { listed } from "../../formula/phrases.js";
import { alone, canJoin, centred, joined, rangeText } from "./beside.js";

/** @import { Choice, ChosenRule } from "../../choice/choice.js" */
/**
 * A line: of a check with name, verdict and its sign; of a neighbour with its rule and parameters.
 * @typedef {{sentence: string, where: number|null, name?: string, verdict?: string, mark?: string,
 *   rule?: string, parameters?: Object<string, number>}} Line
 * @typedef {"checks"|"neighbours"|"row"} What
 * @typedef {{lines: Line[]}|{message: string}} Answer
 * @typedef {(what: What, query: string) => Promise<Answer|null>} ReadLines
 * @typedef {{query: string, moved: string[]}} Nearest a query that can be answered, and what of another it leaves at
 *   the default, in words
 * @typedef {{note: () => Element, nearest: (query: string) => Nearest|null,
 *   elsewhere: (labels: string[]) => Element}} Brought what came along where there is no server:
 *   where it is from, what of it is nearest to a query, and what is said of rules without any, by label
 */

/**
 * @typedef {{body: Element, ask: () => Promise<void>}} Part
 * @typedef {{label: string, body: Element} & Record<"checks"|"neighbours", Part|null>} Block
 */

const REST_MS = 300; // a choice that is changed again sooner is not asked for
const MOST_CACHED = 100;
/** @type {Record<"checks"|"neighbours", {busy: string, none: string}>} */
const WORDS = {
  checks: { busy: "Checking …", none: "No check applies to it." },
  neighbours: { busy: "Comparing …", none: "No other rule of the catalogue comes near it." },
};
const WHATS = /** @type {const} */ (["checks", "neighbours"]); // the quick ones first
const GONE = "The server does not answer.";
const LONG = "Too long for a link, and so it cannot be checked: shorten a formula.";

/**
 * The lines of all rules of a choice, asked for while the section is open.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, colours: () => {rules: string[]}, read: ReadLines,
 *   brought?: Brought, point: (x: number|null) => void, pin: (x: number|null) => void}} options
 *   ``point`` shows an x on the chart, ``pin`` keeps it
 */
export function createChecks(host, { store, colours, read, brought, point, pin }) {
  /** @type {Map<string, Answer>} */
  const cached = new Map();
  let timer = 0;
  let drawn = "";
  for (const kind of ["pointerover", "focusin"]) host.addEventListener(kind, follow);
  for (const kind of ["pointerleave", "focusout"]) host.addEventListener(kind, () => point(null));

  /** @param {Choice} choice @param {{phase: string}} [change] */
  function show(choice, change) {
    host.hidden = choice.section !== "checks";
    if (host.hidden || change?.phase === "moving") return;
    const key = JSON.stringify([choice.rules.map((rule) => requests(rule.slot)), colours().rules]);
    if (key === drawn) return;
    drawn = key;
    clearTimeout(timer);
    point(null);
    const blocks = choice.rules.map(block);
    const bodies = blocks.filter(({ checks }) => checks).map(({ body }) => body);
    host.replaceChildren(
      ...(brought && bodies.length ? [brought.note()] : []),
      ...bodies,
      ...(brought ? lacking(blocks, brought) : []),
    );
    timer = setTimeout(() => inTurn(blocks), REST_MS);
  }

  /** One after another: a server that is busy answers each within its time. @param {Block[]} blocks */
  async function inTurn(blocks) {
    const parts = WHATS.flatMap((what) => blocks.map((one) => one[what]));
    for (const part of parts) if (part?.body.isConnected) await part.ask();
  }

  /** One notice for all rules without lines. @param {Block[]} blocks @param {Brought} of */
  function lacking(blocks, of) {
    const labels = blocks.filter(({ checks }) => !checks).map(({ label }) => label);
    return labels.length ? [of.elsewhere(labels)] : [];
  }

  /** The queries about a rule. @param {number} slot @returns {Record<"checks"|"neighbours", string>} */
  function requests(slot) {
    return { checks: queryOf(alone(store.now, slot)), neighbours: queryOf(alone(store.now, slot, true)) };
  }

  /**
   * One rule: its checks, and its neighbours, each where it can be had.
   * @param {ChosenRule} rule
   * @returns {Block}
   */
  function block({ key, slot }) {
    const queries = requests(slot);
    const [checks, neighbours] = WHATS.map((what) => {
      const nearest = brought ? brought.nearest(queries[what]) : { query: queries[what], moved: [] };
      return nearest && part(what, nearest);
    });
    const label = find("rule", key)?.label ?? key;
    const range = brought ? defaultView().range : store.now.range;
    const beside = () => element("h4", {}, `Beside another rule, on ${rangeText(range)}`);
    const body = element(
      "section",
      { class: "checked" },
      element("h3", {}, dot(slot), label),
      ...(checks ? [checks.body] : []),
      ...(neighbours ? [beside(), neighbours.body] : []),
    );
    return { label, body, checks, neighbours };
  }

  /** @param {number} slot */
  function dot(slot) {
    const bright = colours().rules;
    const mark = element("span", { class: "dot", "aria-hidden": "true" });
    mark.style.background = bright[slot % bright.length];
    return mark;
  }

  /**
   * The lines of one question, with a sentence while they are on their way.
   * @param {"checks"|"neighbours"} what
   * @param {Nearest} nearest
   */
  function part(what, { query, moved }) {
    const body = element("div", { class: "lines" });
    const say = (/** @type {string} */ words, /** @type {Element[]} */ ...more) =>
      body.replaceChildren(element("p", { role: "status" }, words), ...more);
    const name = `${what}?${query}`;
    const known = cached.get(name);

    /** @param {Answer} answer */
    function fill(answer) {
      if ("message" in answer) say(answer.message);
      else if (!answer.lines.length) say(WORDS[what].none);
      else body.replaceChildren(element("ul", {}, ...answer.lines.map(moved.length ? elsewhere : item)));
      const defaults = `At the defaults. For ${listed(moved)} the app checks this.`;
      if (moved.length) body.prepend(element("p", { class: "defaults" }, defaults));
    }

    async function ask() {
      if (known || !body.isConnected) return;
      if (!fits(query)) return say(LONG);
      say(WORDS[what].busy);
      const answer = await read(what, query);
      if (!answer) return say(GONE, element("button", { onclick: ask }, "Try again"));
      if (cached.size >= MOST_CACHED) cached.clear();
      if ("lines" in answer) cached.set(name, answer);
      fill(answer);
    }

    if (known) fill(known);
    else say(WORDS[what].busy);
    return { body, ask };
  }

  /** A line on other curves than those of the chart: it has no place there. @param {Line} line */
  function elsewhere(line) {
    return item({ ...line, where: null, rule: undefined });
  }

  /** @param {Line} line */
  function item(line) {
    const { where, sentence, name, verdict, mark, rule } = line;
    const words = [
      ...(name
        ? [element("b", { class: "mark", title: verdict }, mark ?? ""), element("b", {}, name), " "]
        : []),
      element("span", {}, ...(name ? [`${verdict}. `] : []), sentence),
    ];
    const go = { onclick: () => move(where ?? 0), title: `Show x = ${where} on the chart` };
    const text =
      where === null
        ? element("div", { class: "line" }, ...words)
        : element("button", { class: "line", "data-x": where, ...go }, ...words);
    return element("li", { "data-verdict": verdict ?? null }, text, ...(rule ? [adding(line)] : []));
  }

  /** @param {Event} event at a line of the list, or beside all lines, as when one was replaced meanwhile */
  function follow({ target }) {
    const x = /** @type {Element} */ (target).closest("[data-x]")?.getAttribute("data-x");
    point(x ? Number(x) : null);
  }

  /** @param {number} x */
  function move(x) {
    pin(x);
    store.change(centred(store.now, x));
  }

  /** @param {Line} line */
  function adding({ rule = "", parameters = {} }) {
    const label = find("rule", rule)?.label ?? rule;
    const add = () => store.change(joined(store.now, { rule, parameters }));
    const state = { "aria-label": `Add ${label}`, disabled: !canJoin(store.now, rule) };
    return element("button", { class: "join", onclick: add, ...state }, "Add");
  }

  const stop = store.follow(show);
  return {
    /** Draw anew: the colours may have changed. */
    refresh: () => show(store.now),
    destroy() {
      clearTimeout(timer);
      stop();
    },
  };
}
