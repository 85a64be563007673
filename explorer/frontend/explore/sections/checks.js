// The section Checks: lines on each rule; a line shows its x on the chart.

import { element } from "../../elements/dom.js";
import { ruleArguments } from "../../asking/ask.js";
import { findEntry } from "../../choice/entries.js";
import { canJoin, centred, joined, rangeText } from "./beside.js";

/** @import { Choice, ChosenRule } from "../../choice/choice.js" */
/**
 * A line: of a check with name, verdict and its sign; of a neighbour with its rule and parameters.
 * @typedef {{sentence: string, where: number|null, name?: string, verdict?: string, mark?: string,
 *   rule?: string, parameters?: Object<string, number>}} Line
 * @typedef {{lines?: Line[]} & import("../../asking/ask.js").Answer} Answer
 */

/** @typedef {{body: Element, ask: () => Promise<void>}} Part */

const REST_MS = 300; // a choice that is changed again sooner is not asked for
/** @type {Record<"checks"|"neighbours", {busy: string, none: string}>} */
const WORDS = {
  checks: { busy: "Checking …", none: "No check applies to it." },
  neighbours: { busy: "Comparing …", none: "No other rule of the catalogue comes near it." },
};

/**
 * The lines of all rules of a choice, asked for while the section is open.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, colours: () => {rules: string[]}, ask: import("../../asking/ask.js").CachedAsk,
 *   origin?: () => Element, point: (x: number|null) => void, pin: (x: number|null) => void}} options
 *   ``point`` shows an x on the chart, ``pin`` keeps it
 */
export function createChecks(host, { store, colours, ask: asking, origin, point, pin }) {
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
    host.replaceChildren(...(origin ? [origin()] : []), ...blocks.map(({ body }) => body));
    timer = setTimeout(
      () => inTurn(blocks.map(({ checks }) => checks).concat(blocks.map(({ neighbours }) => neighbours))),
      REST_MS,
    );
  }

  /** One after another: a server that is busy answers each within its time. @param {Part[]} parts */
  async function inTurn(parts) {
    for (const part of parts) if (part.body.isConnected) await part.ask();
  }

  /** The questions on a rule. @param {number} slot */
  function requests(slot) {
    const pair = ruleArguments(store.current, slot);
    const [start, stop] = store.current.range;
    return { checks: pair, neighbours: { ...pair, start, stop } };
  }

  /** One rule: its checks, and its neighbours. @param {ChosenRule} rule */
  function block({ key, slot }) {
    const args = requests(slot);
    const [checks, neighbours] = [part("checks", args.checks), part("neighbours", args.neighbours)];
    const label = findEntry("rule", key)?.label ?? key;
    const beside = element("h4", {}, `Beside another rule, on ${rangeText(store.current.range)}`);
    const heading = element("h3", {}, dot(slot), label);
    const body = element("section", { class: "checked" }, heading, checks.body, beside, neighbours.body);
    return { body, checks, neighbours };
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
   * @param {Record<string, *>} args
   */
  function part(what, args) {
    const body = element("div", { class: "lines" });
    const say = (/** @type {string} */ words, /** @type {Element[]} */ ...more) =>
      body.replaceChildren(element("p", { role: "status" }, words), ...more);
    const known = asking.known(what, args);

    /** @param {Answer} answer */
    function fill({ lines, message = "", again, note }) {
      if (!lines) say(message, ...(again ? [element("button", { onclick: ask }, "Try again")] : []));
      else if (!lines.length) say(WORDS[what].none);
      else body.replaceChildren(element("ul", {}, ...lines.map(note ? elsewhere : item)));
      if (note) body.prepend(element("p", { class: "defaults" }, note));
    }

    async function ask() {
      if (known || !body.isConnected) return;
      say(WORDS[what].busy);
      fill(await asking(what, args));
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
    store.change(centred(store.current, x));
  }

  /** @param {Line} line */
  function adding({ rule = "", parameters = {} }) {
    const label = findEntry("rule", rule)?.label ?? rule;
    const add = () => store.change(joined(store.current, { rule, parameters }));
    const state = { "aria-label": `Add ${label}`, disabled: !canJoin(store.current, rule) };
    return element("button", { class: "join", onclick: add, ...state }, "Add");
  }

  const stop = store.subscribeNow(show);
  return {
    /** Draw anew: the colours may have changed. */
    refresh: () => show(store.current),
    destroy() {
      clearTimeout(timer);
      stop();
    },
  };
}
