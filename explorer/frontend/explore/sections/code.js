// The section Code: an op with one of the rules as Python generates it.

import { getLinkedParameters } from "../../choice/address.js";
import { getEntries } from "../../choice/choice.js";
import { getRuleArguments } from "../../asking/ask.js";
import { isCustom } from "../../choice/entries.js";
import { saveInSession, loadFromSession } from "../../choice/session.js";
import { copyText } from "../../elements/clipboard.js";
import { element, setText } from "../../elements/dom.js";
import { toPartKey } from "../../formula/curves.js";
import { createDownload } from "./download.js";
import { highlightPython } from "./highlight.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Displayed } from "../stage/stage.js" */

const STORAGE_KEY = "code"; // key of the rule and the language in this session
const BUSY = "Python writes the code …";

/**
 * Create the section: code of an op with one of the rules, to copy or download.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").CachedAsk, languages: string[],
 *   notebook: string}} options
 */
export function createCode(host, { store, ask, languages, notebook }) {
  const pick = element("select", { onchange: () => change({ rule: pick.value }) });
  const buttons = languages.map((name) =>
    element("button", { onclick: () => change({ language: name }) }, name),
  );
  const download = createDownload();
  const copy = element("button", { onclick: copyCode }, "Copy");
  const status = element("span", { role: "status" });
  const note = element("p", { role: "status" });
  const text = element("code");
  const block = element("pre", { tabindex: 0, role: "region", "aria-label": "Code" }, text);
  const body = element(
    "div",
    { class: "code-section" },
    element(
      "div",
      { class: "fields" },
      element("label", {}, "Code for ", pick),
      element("div", { role: "group", "aria-label": "As", class: "switch" }, ...buttons),
    ),
    note,
    element("div", { class: "fields" }, download.element, copy, status),
    block,
  );
  let { rule = "", language = "" } = loadFromSession(STORAGE_KEY) ?? {};
  if (!languages.includes(language)) language = languages[0];
  let latest = 0;
  let current = /** @type {Displayed|null} */ (null);
  host.append(body);

  /** Handle a change of the choice. @param {Choice} choice */
  function handleChange(choice) {
    body.hidden = choice.section !== "code";
    if (body.hidden) return;
    const rules = sortByFormula(choice);
    const selected = rules.some(({ key }) => key === rule) ? rule : rules[0].key;
    pick.replaceChildren(
      ...rules.map(({ key, label }) =>
        element("option", { value: key, selected: key === selected }, isCustom(key) ? key : label),
      ),
    );
    show();
  }

  /** Select a rule or a language. @param {{rule?: string, language?: string}} chosen */
  function change(chosen) {
    ({ rule, language } = { rule, language, ...chosen });
    saveInSession(STORAGE_KEY, { rule, language });
    setText(text, "");
    show();
  }

  async function show() {
    const id = ++latest;
    for (const button of buttons)
      button.setAttribute("aria-pressed", String(button.textContent === language));
    if (!text.textContent) showCode({ text: "", note: BUSY });
    const onWait = (/** @type {string} */ words) =>
      id === latest && showCode({ text: "", note: words || BUSY });
    const { text: written = "", note = "", message } = await ask("code", makeArguments(), { onWait });
    if (id === latest) showCode({ text: written, note: message ?? note });
  }

  /** Return the arguments of the question; a notebook plots the chart's curve. */
  function makeArguments() {
    const choice = store.current;
    const slot = choice.rules.find(({ key }) => key === pick.value)?.slot ?? choice.rules[0].slot;
    const pair = { ...getRuleArguments(choice, slot), learns: choice.learns, language };
    if (language !== notebook || !current) return pair;
    const { kinks } = current.curves;
    const { range, g, f } = choice;
    const ruleKinks = [...(kinks[pair.rule] ?? []), ...(kinks[toPartKey(pair.rule)] ?? [])];
    return {
      ...pair,
      parameters: getLinkedParameters(choice),
      start: range[0],
      stop: range[1],
      g,
      f,
      kinks: ruleKinks,
    };
  }

  /** Show code and a note. @param {{text: string, note: string}} code */
  function showCode(code) {
    if (text.textContent !== code.text) text.replaceChildren(...highlightPython(code.text));
    setText(note, code.note);
    setText(status, "");
    block.hidden = copy.hidden = download.element.hidden = !code.text;
    const suffix = language === notebook ? ".ipynb" : ".py";
    download.offer(`Download ${suffix}`, `backward_rule${suffix}`, "text/plain", () => code.text);
  }

  async function copyCode() {
    const isDone = await copyText(text.textContent);
    setText(status, isDone ? "Copied." : "The browser does not allow it: select the code and copy it.");
  }

  const stop = store.subscribeNow((choice, { phase }) => phase === "settled" && handleChange(choice));
  return {
    /** Set the curves. @param {Displayed} now the settled curves of the chart */
    show(now) {
      current = now;
      if (!body.hidden && language === notebook) show();
    },
    destroy: stop,
  };
}

/** Return the rules of a choice, rules with a formula first. @param {Choice} choice */
function sortByFormula(choice) {
  const pairs = getEntries(choice).rules;
  return [...pairs].sort((one, other) => Number(one.formula === null) - Number(other.formula === null));
}
