// The card of an op or backward rule: title, colour, formula and parameter sliders.

import { element, createId, setAttribute, setText } from "../elements/dom.js";
import { isCustom } from "../choice/entries.js";
import { createSliders } from "../choice/sliders.js";

const LEARNED_TEXT = "The learned value so far; the slider sets its start";

/** @import { Control } from "../formula/controls.js" */
/** @import { Entry } from "../formula/entry.js" */
/**
 * The contents of a card. ``autograd``: a description of torch's own gradient of the op; ``doubt``: why the rule may
 * not suit the op; ``learning``: whether each control's parameter learns, null if it cannot; ``part``: the formula of
 * its gradient, with its origin; ``share``: a sentence about the gradient's mean size; ``drawing``: the switches of a
 * hand-drawn rule, or null.
 *
 * @typedef {{entry: Entry, autograd: string, colour: string, doubt: string, controls: Control[], learning:
 *   (boolean|null)[], part: {text: string, formula: string}|null, share: string, hidden: boolean, drawing: {symmetric:
 *   boolean, zero: boolean}|null}} CardState
 * @typedef {{learns: HTMLElement, present: HTMLElement}} Extras elements next to a parameter's name: the button that
 *   makes it learn, and its learned value
 */

/**
 * Create the card of an op or backward rule.
 * @param {{kind: "op"|"rule", buttons: Element[], picker: ReturnType<typeof import("./picker.js").createPicker>, store:
 *   import("../choice/store.js").Store, onLearning: (name: string) => void, onFailing: () => void, onSymmetric: (on:
 *   boolean) => void, onZero: (on: boolean) => void}} options ``buttons``: actions of the card; ``picker``: its title,
 *   which replaces op or rule; ``onLearning``: gets the parameter whose button is pressed; ``onFailing``: the failed
 *   check is pressed
 */
export function createCard({ kind, buttons, picker, store, onLearning, onFailing, ...handlers }) {
  const id = createId();
  const name = element("h2", { id });
  const formula = element("code", { class: "formula" });
  const brief = element("p", { class: "brief text-small" });
  const doubt = element("p", { class: "doubt text-small" });
  const alike = element("p", { class: "doubt alike text-small" });
  /**
   * Elements next to each slider, by the parameter's name in formulas.
   * @type {Map<string, Extras>} by the parameter's name in formulas
   */
  const extras = new Map();
  const sliders = createSliders(store, createExtras);
  const part = element("p", { class: "part text-small" }, element("span"), element("code"));
  const share = element("p", { class: "share text-small" });
  const failing = element("button", { class: "failing text-small", onclick: onFailing, hidden: "" });
  const edit = element(
    "button",
    { class: "edit quiet", onclick: toggleDetails, "aria-expanded": "false" },
    "⋯",
  );
  const symmetric = createSwitch("Symmetric", handlers.onSymmetric);
  const zero = createSwitch("0 outside", handlers.onZero);
  const switches = element(
    "div",
    { class: "switches flex-wrap", hidden: true },
    symmetric.element,
    zero.element,
  );
  const card = element(
    "div",
    { role: "group", "aria-labelledby": id, class: `card ${kind}` },
    element("div", { class: "top flex-row" }, name, picker.element, element("span", {}, ...buttons), edit),
    brief,
    formula,
    failing,
    doubt,
    alike,
    ...(kind === "rule" ? [switches] : []),
    sliders.element,
    part,
    share,
  );
  function toggleDetails() {
    setAttribute(edit, "aria-expanded", String(card.classList.toggle("opened")));
  }

  /** @param {CardState} state */
  function showSliders({ controls, learning }) {
    sliders.show(controls);
    controls.forEach(({ parameter: { name } }, index) => {
      const { learns } = /** @type {Extras} */ (extras.get(name));
      learns.hidden = learning[index] === null;
      setAttribute(learns, "aria-pressed", String(learning[index] === true));
    });
  }

  /** @param {Control} control */
  function createExtras(control) {
    const present = element("span", { class: "present", title: LEARNED_TEXT, hidden: true });
    const learns = createLearnButton(control);
    extras.set(control.parameter.name, { present, learns });
    return [present, learns];
  }

  /** @param {Control} control */
  function createLearnButton({ parameter: { name } }) {
    const hint = `Show the gradient for ${name}: what each x contributes to it`;
    const named = { "aria-label": `${name} learns`, title: hint };
    const act = { onclick: () => onLearning(name) };
    return element("button", { class: "learns", ...named, ...act }, "learns");
  }

  /**
   * @param {{name?: string, sentence: string}|null} line the check's name and result
   * @param {string} close a sentence about the most similar catalogue rule, or ""
   */
  function showFailing(line, close) {
    setText(alike, close);
    failing.hidden = !line;
    if (line) setText(failing, `✗ fails: ${line.name}`);
    setAttribute(failing, "title", line && line.sentence);
  }

  /** Show the values that a training run has learned so far. @param {Object<string, string>} texts by name */
  function showPresent(texts) {
    for (const [name, { present }] of extras) {
      const text = texts[name] ?? "";
      setText(present, text);
      setAttribute(present, "hidden", !text);
    }
  }

  /** @param {CardState} state */
  function showPart({ part: shown }) {
    part.hidden = !shown;
    if (!shown) return;
    setText(part.children[0], shown.text);
    setText(part.children[1], shown.formula);
  }

  return {
    element: card,
    /** @param {CardState} state */
    update(state) {
      const { entry } = state;
      setText(name, entry.label);
      edit.hidden = kind === "op" && !state.controls.length;
      setAttribute(edit, "aria-label", `Edit ${entry.label}`);
      setAttribute(name, "title", entry.purpose || entry.label);
      card.style.setProperty("--colour", state.colour);
      card.classList.toggle("hidden-rule", state.hidden);
      setText(formula, entry.formula ?? `torch's own: ${state.autograd}`);
      setAttribute(formula, "title", formula.textContent);
      setText(brief, "brief" in entry ? entry.brief : "");
      setText(doubt, state.doubt);
      formula.hidden = isCustom(entry.key);
      picker.update(entry);
      switches.hidden = !state.drawing;
      symmetric.box.checked = Boolean(state.drawing?.symmetric);
      zero.box.checked = Boolean(state.drawing?.zero);
      showSliders(state);
      showPart(state);
      setText(share, state.share);
      share.hidden = !state.share;
    },
    showFailing,
    showPresent,
  };
}

/** @param {string} name @param {(on: boolean) => void} onTurn gets whether it is on */
function createSwitch(name, onTurn) {
  const box = element("input", { type: "checkbox", onchange: () => onTurn(box.checked) });
  return { box, element: element("label", {}, box, name) };
}
