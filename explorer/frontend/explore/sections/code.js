// The section Code where there is no server: code from the site's files with the chosen numbers, and for
// own formulas code from Python in the browser.

import { entriesOf } from "../../choice/choice.js";
import { find, findBeside, isOwn } from "../../choice/entries.js";
import { isCopied } from "../../elements/clipboard.js";
import { element, setText } from "../../elements/dom.js";
import { learnable } from "../../formula/contribution.js";
import { firstDrawn } from "../../formula/draws.js";
import { codeQuestion, codeText, notebookText, textsOf } from "./code-text.js";
import { createDownload } from "./download.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Codes, Notebooks, Pair } from "./code-text.js" */
/**
 * @typedef {(question: "formulas"|"code", input: *, onWait?: (words: string) => void) => Promise<*>} AskOwn has
 *   Python answer for own formulas; rejected with words for the page
 * @typedef {{languages: string[], notebook: string,
 *   readCodes: (op: string) => Promise<Codes>,
 *   readNotebooks: () => Promise<Notebooks>, ask: AskOwn|null}} CodeReach the languages by
 *   name, that of a notebook among them, what came along, and Python where that did
 * @typedef {{text: string, note: string}} Written code, and a sentence on it or in its place
 */

const GONE = "The code could not be loaded.";
const OWN = "The code of an own formula needs the app.";
const BUSY = "Python writes the code …";

/**
 * The op with one of the rules as code to take away.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store} & CodeReach} options
 */
export function createCode(host, { store, languages, notebook, readCodes, readNotebooks, ask }) {
  const pick = element("select", { onchange: anew });
  const buttons = languages.map((name) => element("button", { onclick: () => change(name) }, name));
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
  let language = languages[0];
  let turn = 0;
  host.append(body);

  /** @param {Choice} choice */
  function changed(choice) {
    body.hidden = choice.section !== "code";
    if (body.hidden) return;
    const rules = entriesByFormula(choice);
    const known = rules.some(({ key }) => key === pick.value) ? pick.value : rules[0].key;
    pick.replaceChildren(
      ...rules.map(({ key, label }) =>
        element("option", { value: key, selected: key === known }, isOwn(key) ? key : label),
      ),
    );
    show();
  }

  /** @param {string} name */
  function change(name) {
    language = name;
    anew();
  }

  function anew() {
    setText(text, "");
    show();
  }

  async function show() {
    const mine = ++turn;
    for (const button of buttons)
      button.setAttribute("aria-pressed", String(button.textContent === language));
    const written = await writtenNow(mine).catch(() => ({ text: "", note: GONE }));
    if (mine === turn) put(written);
  }

  /** @param {Written} written */
  function put(written) {
    setText(text, written.text);
    setText(note, written.note);
    setText(said, "");
    block.hidden = copy.hidden = download.element.hidden = !written.text;
    const suffix = language === notebook ? ".ipynb" : ".py";
    download.offer(`Download ${suffix}`, `backward_rule${suffix}`, "text/plain", () => written.text);
  }

  /** @param {number} mine the turn that it is for @returns {Promise<Written>} */
  async function writtenNow(mine) {
    const choice = store.now;
    const op = find("op", choice.op);
    const rule = findBeside(op, pick.value);
    if (!op || !rule) return { text: "", note: GONE };
    const isTheirs =
      isOwn(op.key) || isOwn(rule.key) || (language === notebook && firstDrawn([op, rule]) && ask);
    const written = await (isTheirs ? own : broughtAlong)({ op, rule }, choice, mine);
    const learns = !choice.learns || learnable(op, [rule]).includes(choice.learns);
    const plain = `${choice.learns} cannot learn by this rule: in its code it is a number.`;
    return learns || !written.text ? written : { ...written, note: plain };
  }

  /** Python's code of a pair with an own formula. @param {Pair} pair @param {Choice} choice @param {number} mine */
  async function own(pair, choice, mine) {
    if (!ask) return { text: "", note: OWN };
    if (!text.textContent) put({ text: "", note: BUSY });
    return ask("code", codeQuestion(language, pair, choice), (words) => {
      if (mine === turn) put({ text: "", note: words || BUSY });
    }).catch(({ message }) => ({ text: "", note: `${message}.` }));
  }

  /** @param {Pair} pair @param {Choice} choice @returns {Promise<Written>} */
  async function broughtAlong(pair, choice) {
    const codes = await readCodes(pair.op.key);
    const texts = textsOf(codes, pair.rule.key, choice.learns);
    if (!texts) return { text: "", note: GONE };
    const words = texts[language];
    if (typeof words === "string") return { text: "", note: words };
    const write = (/** @type {string} */ name) =>
      codeText(codes, /** @type {number[]} */ (texts[name]), texts, pair, choice.parameters);
    if (language !== notebook) return { text: write(language), note: "" };
    const parts = { introduction: write(notebook), code: write(languages[0]) };
    return { text: notebookText(await readNotebooks(), parts, texts, pair, choice), note: "" };
  }

  async function take() {
    const done = await isCopied(text.textContent);
    setText(said, done ? "Copied." : "The browser does not allow it: select the code and copy it.");
  }

  const stop = store.follow((choice, { phase }) => phase === "settled" && changed(choice));
  return { destroy: stop };
}

/** The rules of a choice, those with a formula first. @param {Choice} choice */
function entriesByFormula(choice) {
  const pairs = entriesOf(choice).rules;
  return [...pairs].sort((one, other) => Number(one.formula === null) - Number(other.formula === null));
}
