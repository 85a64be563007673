// The section Code where there is no server: PyTorch code that came along, for the parameters at their defaults.

import { choiceControls } from "../choice/choice.js";
import { find } from "../choice/entries.js";
import { element, setText } from "../elements/dom.js";
import { numberText } from "../formula/numbers.js";
import { held } from "../formula/records.js";

/** @typedef {import("../choice/choice.js").Choice} Choice */
/** @typedef {(op: string) => Promise<Record<string, string>>} ReadCodes the code of an op with each rule, by key */

const GONE = "The code could not be loaded.";
const OWN = "The code of an own formula needs the app.";

/**
 * The code of the op with one of the rules, to copy.
 * @param {HTMLElement} host
 * @param {{store: import("../choice/store.js").Store, read: ReadCodes}} options
 */
export function createCode(host, { store, read }) {
  const pick = element("select", { onchange: show });
  const text = element("code");
  const said = element("p", { role: "status" });
  const copy = element("button", { type: "button", onclick: take }, "Copy");
  const label = element("label", {}, "Code for ", pick);
  const block = element("pre", { tabindex: 0, role: "region", "aria-label": "Code" }, text);
  const place = element("div", { class: "code-section" }, element("div", {}, label, copy), said, block);
  let turn = 0;
  host.append(place);

  /** @param {Choice} choice */
  function changed(choice) {
    place.hidden = choice.section !== "code";
    if (place.hidden) return;
    host.hidden = false;
    const known = pick.value;
    const option = (/** @type {string} */ key) =>
      element("option", { value: key, selected: key === known }, find("rule", key)?.label ?? key);
    pick.replaceChildren(...choice.rules.map(({ key }) => option(key)));
    show();
  }

  async function show() {
    const mine = ++turn;
    const { op } = /** @type {Choice} */ (store.choice);
    const codes = await read(op).catch(() => null);
    if (mine !== turn) return;
    const code = codes && held(codes, pick.value);
    setText(text, code ?? "");
    block.hidden = copy.hidden = !code;
    setText(said, code ? settingsText() : codes ? OWN : GONE);
  }

  /** What is chosen beside what the code has as its defaults. */
  function settingsText() {
    const choice = /** @type {Choice} */ (store.choice);
    const pairs = choiceControls(choice).flatMap(({ name }) => {
      const value = held(choice.parameters, name);
      return value === undefined ? [] : [`${name} = ${numberText(value)}`];
    });
    return pairs.length
      ? `In the code every parameter has its default. Chosen here: ${pairs.join(", ")}.`
      : "";
  }

  async function take() {
    try {
      await navigator.clipboard.writeText(text.textContent);
      setText(said, "Copied.");
    } catch {
      setText(said, "The browser does not allow it: select the code and copy it.");
    }
  }

  const stop = store.subscribe((choice, { phase }) => phase === "settled" && changed(choice));
  if (store.choice) changed(store.choice);
  return { destroy: stop };
}
