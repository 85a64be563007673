// The section Code: an op with one of the rules as Python writes it.

import { getLinkedParameters } from "../../choice/address.js";
import { getEntries } from "../../choice/choice.js";
import { ruleArguments } from "../../asking/ask.js";
import { isCustom } from "../../choice/entries.js";
import { saveInSession, loadFromSession } from "../../choice/session.js";
import { isCopied } from "../../elements/clipboard.js";
import { element, setText } from "../../elements/dom.js";
import { toPartKey } from "../../formula/curves.js";
import { createDownload } from "./download.js";
import { highlightPython } from "./highlight.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Displayed } from "../stage/stage.js" */

const CHOSEN = "code"; // the rule and the language, of this session
const BUSY = "Python writes the code …";

/**
 * The op with one of the rules as code to take away.
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
  const copy = element("button", { onclick: take }, "Copy");
  const said = element("span", { role: "status" });
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
    element("div", { class: "fields" }, download.element, copy, said),
    block,
  );
  let { rule = "", language = "" } = loadFromSession(CHOSEN) ?? {};
  if (!languages.includes(language)) language = languages[0];
  let turn = 0;
  let current = /** @type {Displayed|null} */ (null);
  host.append(body);

  /** @param {Choice} choice */
  function changed(choice) {
    body.hidden = choice.section !== "code";
    if (body.hidden) return;
    const rules = entriesByFormula(choice);
    const known = rules.some(({ key }) => key === rule) ? rule : rules[0].key;
    pick.replaceChildren(
      ...rules.map(({ key, label }) =>
        element("option", { value: key, selected: key === known }, isCustom(key) ? key : label),
      ),
    );
    show();
  }

  /** @param {{rule?: string, language?: string}} chosen */
  function change(chosen) {
    ({ rule, language } = { rule, language, ...chosen });
    saveInSession(CHOSEN, { rule, language });
    setText(text, "");
    show();
  }

  async function show() {
    const mine = ++turn;
    for (const button of buttons)
      button.setAttribute("aria-pressed", String(button.textContent === language));
    if (!text.textContent) put({ text: "", note: BUSY });
    const onWait = (/** @type {string} */ words) => mine === turn && put({ text: "", note: words || BUSY });
    const { text: written = "", note = "", message } = await ask("code", args(), { onWait });
    if (mine === turn) put({ text: written, note: message ?? note });
  }

  /** A notebook draws the curve as the chart has it. */
  function args() {
    const choice = store.current;
    const slot = choice.rules.find(({ key }) => key === pick.value)?.slot ?? choice.rules[0].slot;
    const pair = { ...ruleArguments(choice, slot), learns: choice.learns, language };
    if (language !== notebook || !current) return pair;
    const { kinks } = current.curves;
    const { range, g, f } = choice;
    const both = [...(kinks[pair.rule] ?? []), ...(kinks[toPartKey(pair.rule)] ?? [])];
    return {
      ...pair,
      parameters: getLinkedParameters(choice),
      start: range[0],
      stop: range[1],
      g,
      f,
      kinks: both,
    };
  }

  /** @param {{text: string, note: string}} written */
  function put(written) {
    if (text.textContent !== written.text) text.replaceChildren(...highlightPython(written.text));
    setText(note, written.note);
    setText(said, "");
    block.hidden = copy.hidden = download.element.hidden = !written.text;
    const suffix = language === notebook ? ".ipynb" : ".py";
    download.offer(`Download ${suffix}`, `backward_rule${suffix}`, "text/plain", () => written.text);
  }

  async function take() {
    const done = await isCopied(text.textContent);
    setText(said, done ? "Copied." : "The browser does not allow it: select the code and copy it.");
  }

  const stop = store.subscribeNow((choice, { phase }) => phase === "settled" && changed(choice));
  return {
    /** @param {Displayed} now the curves of the chart at rest */
    show(now) {
      current = now;
      if (!body.hidden && language === notebook) show();
    },
    destroy: stop,
  };
}

/** The rules of a choice, those with a formula first. @param {Choice} choice */
function entriesByFormula(choice) {
  const pairs = getEntries(choice).rules;
  return [...pairs].sort((one, other) => Number(one.formula === null) - Number(other.formula === null));
}
