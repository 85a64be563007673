// The section Checks: Python's statements about each backward rule, and the most similar rules. Pointing at a statement
// shows its x on the chart.

import { element } from "../../elements/dom.js";
import { getRuleArguments } from "../../asking/ask.js";
import { findEntry } from "../../choice/entries.js";
import { formatNumber, writeMinus } from "../../formula/numbers.js";
import { canAddCatalogueRule, centerView, addNeighbour } from "./choice-changes.js";

/** @import { Choice, ChosenRule } from "../../choice/choice.js" */
/**
 * A statement about a check (``name``, ``verdict`` and its sign ``mark``) or about a similar rule (``rule``,
 * ``parameters``). ``where``: its x on the chart, or null.
 * @typedef {{sentence: string, where: number|null, name?: string, verdict?: string, mark?: string, rule?: string,
 *   parameters?: Object<string, number>}} Line
 * @typedef {{lines?: Line[], terms?: Record<string, string>} & import("../../asking/ask.js").Answer} Answer Python's
 *   answer: statements and explanations of terms, or a message
 */

/**
 * A list of statements. ``ask`` requests them from Python.
 * @typedef {{body: Element, ask: () => Promise<void>}} Part
 */

const REST_MS = 300; // pause after a change before Python is asked
/** @type {Record<"checks"|"neighbours", {busy: string, none: string}>} */
const WORDS = {
  checks: { busy: "Checking …", none: "No check applies to it." },
  neighbours: {
    busy: "Comparing …",
    none: "No rule of the catalogue resembles it at every g.",
  },
};

/**
 * Create the section Checks. While it is open, it requests statements about all rules.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, colours: () => {rules: string[]}, ask:
 *   import("../../asking/ask.js").CachedAsk, origin?: () => Element, point: (x: number|null) => void, pin: (x:
 *   number|null) => void}} options ``point``: shows an x on the chart, or with null none; ``pin``: keeps it there;
 *   ``origin``: creates a remark on where checks come from
 */
export function createChecks(host, { store, colours, ask: asking, origin, point, pin }) {
  let timer = 0;
  let drawnKey = "";
  for (const kind of ["pointerover", "focusin"]) host.addEventListener(kind, follow);
  for (const kind of ["pointerleave", "focusout"]) host.addEventListener(kind, () => point(null));

  /** @param {Choice} choice @param {{phase: string}} [change] */
  function show(choice, change) {
    host.hidden = choice.section !== "checks";
    if (host.hidden || change?.phase === "moving") return;
    const key = JSON.stringify([choice.rules.map((rule) => makeRequests(rule.slot)), colours().rules]);
    if (key === drawnKey) return;
    drawnKey = key;
    clearTimeout(timer);
    point(null);
    const blocks = choice.rules.map(createBlock);
    host.replaceChildren(...(origin ? [origin()] : []), ...blocks.map(({ body }) => body));
    const parts = [...blocks.map(({ checks }) => checks), ...blocks.map(({ neighbours }) => neighbours)];
    timer = setTimeout(() => askSequentially(parts), REST_MS);
  }

  /** Request the lists one after the other, so that a busy server can answer each in time. @param {Part[]} parts */
  async function askSequentially(parts) {
    for (const part of parts) if (part.body.isConnected) await part.ask();
  }

  /** @param {number} slot the rule's slot */
  function makeRequests(slot) {
    const pair = getRuleArguments(store.current, slot);
    const [start, stop] = store.current.range;
    return { checks: pair, neighbours: { ...pair, start, stop } };
  }

  /** @param {ChosenRule} rule */
  function createBlock({ key, slot }) {
    const args = makeRequests(slot);
    const short = element("small", {});
    const checks = createPart("checks", args.checks, short);
    const neighbours = createPart("neighbours", args.neighbours);
    const label = findEntry("rule", key)?.label ?? key;
    const ends = store.current.range.map((end) => writeMinus(formatNumber(end)));
    const subheading = element("h4", {}, `The nearest other rules, from ${ends.join(" to ")}`);
    const heading = element("h3", {}, createDot(slot), `${label} `, short);
    const parts = [heading, checks.body, subheading, neighbours.body];
    const body = element("section", { class: "checked", "data-slot": slot }, ...parts);
    return { body, checks, neighbours };
  }

  /** @param {number} slot the rule's slot */
  function createDot(slot) {
    const bright = colours().rules;
    const mark = element("span", { class: "dot", "aria-hidden": "true" });
    mark.style.background = bright[slot % bright.length];
    return mark;
  }

  /**
   * Create a list of statements, with a status text until Python answers.
   * @param {"checks"|"neighbours"} what the question @param {Record<string, *>} args
   * @param {Element} [short] gets the number of statements by verdict
   */
  function createPart(what, args, short) {
    const body = element("div", { class: "lines" });
    const say = (/** @type {string} */ words, /** @type {Element[]} */ ...more) =>
      body.replaceChildren(element("p", { role: "status" }, words), ...more);
    const cached = asking.known(what, args);

    /** @param {Answer} answer */
    function fill({ lines, terms, message = "", again, note }) {
      const items =
        lines?.map((line) => createItem(note ? { ...line, where: null, rule: "" } : line, terms)) ?? [];
      if (!lines) say(message, ...(again ? [element("button", { onclick: ask }, "Try again")] : []));
      else if (!lines.length) say(WORDS[what].none);
      else body.replaceChildren(element("ul", {}, ...items));
      if (lines) short?.replaceChildren(countVerdicts(lines));
      if (note) body.prepend(element("p", { class: "defaults" }, note));
    }

    async function ask() {
      if (cached || !body.isConnected) return;
      say(WORDS[what].busy);
      fill(await asking(what, args));
    }

    if (cached) fill(cached);
    else say(WORDS[what].busy);
    return { body, ask };
  }

  /** @param {Line} line @param {Record<string, string>} [terms] */
  function createItem(line, terms = {}) {
    const { where, sentence, name, verdict = "", mark, rule } = line;
    const explain = (/** @type {string} */ term) =>
      terms[term] ? element("abbr", { title: terms[term] }, term) : term;
    const words = [
      ...(name
        ? [element("b", { class: "mark", title: verdict }, mark ?? ""), element("b", {}, explain(name)), " "]
        : []),
      element("span", {}, ...(name ? [explain(verdict), ". "] : []), sentence),
    ];
    const go = { onclick: () => move(where ?? 0), title: `Show x = ${where} on the chart` };
    const text =
      where === null
        ? element("div", { class: "quiet line" }, ...words)
        : element("button", { class: "quiet line", "data-x": where, ...go }, ...words);
    return element("li", { "data-verdict": verdict || null }, text, ...(rule ? [createAddButton(line)] : []));
  }

  /** Show on the chart the x of the statement that has the pointer or the focus. @param {Event} event */
  function follow({ target }) {
    const x = /** @type {Element} */ (target).closest("[data-x]")?.getAttribute("data-x");
    point(x ? Number(x) : null);
  }

  /** @param {number} x */
  function move(x) {
    pin(x);
    store.change(centerView(store.current, x));
  }

  /** @param {Line} line */
  function createAddButton({ rule = "", parameters = {} }) {
    const label = findEntry("rule", rule)?.label ?? rule;
    const add = () => store.change(addNeighbour(store.current, { rule, parameters }));
    const disabled = !canAddCatalogueRule(store.current, rule);
    return element("button", { class: "join", onclick: add, disabled }, `Add ${label}`);
  }

  const stop = store.subscribeNow(show);
  return {
    /** Redraw the section after a change of the page's colours. */
    refresh: () => show(store.current),
    destroy() {
      clearTimeout(timer);
      stop();
    },
  };
}

/** Return such words as "✓ holds: 9, ○ by design: 3". @param {Line[]} lines */
function countVerdicts(lines) {
  const all = lines.map(({ mark, verdict }) => `${mark} ${verdict}`);
  return [...new Set(all)].map((one) => `${one}: ${all.filter((other) => other === one).length}`).join(", ");
}
