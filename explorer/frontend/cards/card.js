// The card of an op or backward rule: title, colour, formula and parameter sliders.

import { element, createId, setAttribute, setText } from "../elements/dom.js";
import { h, render } from "../elements/render.js";
import { isCustom } from "../choice/entries.js";
import { createSliders } from "../choice/sliders.js";

const TITLE_LENGTH = 22; // number of an own op's letters for which its field has room
const LEARNED_TEXT = "The learned value so far; the slider sets its start";

/** @import { Control } from "../formula/controls.js" */
/** @import { Entry } from "../formula/entry.js" */
/**
 * The contents of a card. ``autograd``: a description of torch's own gradient of the op; ``doubt``: why the rule may
 * not suit the op, or ""; ``values``: of the parameters; ``learning``: whether the parameter of each control learns, null if it cannot; ``part``: the
 * formula of its gradient, with its origin; ``share``: a sentence about the gradient's mean size; ``drawing``: the
 * switches of a hand-drawn rule, or null.
 * @typedef {{entry: Entry, autograd: string, colour: string, doubt: string, controls: Control[], values:
 *   string, learning: (boolean|null)[], part: {text: string, formula: string}|null, share: string, hidden: boolean, drawing: {symmetric:
 *   boolean, zero: boolean}|null}} CardState
 * @typedef {{learns: HTMLElement, present: HTMLElement}} Extras elements next to a parameter's name: the button that
 *   makes it learn, and its learned value
 * @typedef {{hold: (nodes: Node[]) => void}} Holder the card of a rule; ``hold``: shows further nodes below its title
 */

/**
 * Create the card of an op or backward rule.
 * @param {{kind: "op"|"rule", buttons: Element[], picker: ReturnType<typeof import("./picker.js").createPicker>, store:
 *   import("../choice/store.js").Store, onLearning: (name: string) => void, onFailing: () => void, onSymmetric: (on:
 *   boolean) => void, onZero: (on: boolean) => void, onEdit: (() => void)|null}} options ``buttons``: actions of the
 *   card; ``picker``: its title, which replaces the op or rule; ``onLearning``: called with the parameter whose button
 *   is pressed; ``onFailing``: called when the failed check is pressed; ``onSymmetric``, ``onZero``: called with a
 *   switch of a hand-drawn rule; ``onEdit``: edits a hand-drawn rule, null if the page cannot
 */
export function createCard(options) {
  const { kind, buttons, picker, store, onLearning, onFailing, onSymmetric, onZero, onEdit } = options;
  const id = createId();
  const card = element("div", { role: "group", "aria-labelledby": id, class: `card ${kind}` });
  /** The elements next to each slider, by the parameter's name in formulas. @type {Map<string, Extras>} */
  const extras = new Map();
  const sliders = createSliders(store, createExtras);
  let state = /** @type {CardState} */ (/** @type {unknown} */ (null)); // null before the first update
  let failure = /** @type {{name?: string, sentence: string}|null} */ (null);
  let close = ""; // a sentence about the most similar catalogue rule
  let held = /** @type {Node[]} */ ([]);

  function draw() {
    const { entry, drawing, part, share, values } = state;
    const formula = entry.formula ?? state.autograd;
    const isTitle = isCustom(entry.key) && (entry.label === formula || drawing !== null);
    const look = `formula ${isCustom(entry.key) ? "typed-in" : ""} ${isTitle ? "titled" : ""}`;
    const isShort = formula.length <= TITLE_LENGTH || drawing !== null; // that of a drawing is too long to read
    const top = [
      h("h2", { id, title: entry.purpose || entry.label }, entry.label),
      picker.element,
      h("span", {}, ...buttons),
      h(
        "button",
        {
          ...{ class: "edit quiet", "aria-label": `Edit ${entry.label}`, onclick: toggleDetails },
          "aria-expanded": String(card.classList.contains("opened")),
          hidden: kind === "op" && !state.controls.length,
        },
        "⋯",
      ),
    ];
    render(
      card,
      h("div", { class: "top flex-row" }, top),
      held,
      h("p", { class: "brief text-small" }, "brief" in entry && entry.brief),
      h("code", { class: look, title: formula, hidden: isTitle && isShort }, formula),
      h("p", { class: "values text-small", hidden: !values }, values),
      h(
        "button",
        { class: "failing text-small", title: failure?.sentence, hidden: !failure, onclick: onFailing },
        failure && `✗ fails: ${failure.name}`,
      ),
      h("p", { class: "doubt text-small" }, state.doubt),
      h("p", { class: "doubt alike text-small" }, close),
      "codeNotes" in entry && entry.codeNotes?.map((note) => h("p", { class: "doubt text-small" }, note)),
      drawing &&
        h(
          "div",
          { class: "switches flex-wrap" },
          makeSwitch("Symmetric", drawing.symmetric, onSymmetric),
          makeSwitch("0 outside", drawing.zero, onZero),
          onEdit && h("button", { class: "quiet", onclick: onEdit }, "Edit drawing"),
        ),
      sliders.element,
      h(
        "p",
        { class: "part text-small", hidden: !part },
        h("span", {}, part?.text),
        h("code", {}, part?.formula),
      ),
      h("p", { class: "share text-small", hidden: !share }, share),
    );
  }

  function toggleDetails() {
    card.classList.toggle("opened");
    draw();
    card.scrollIntoView({ block: "nearest" });
  }

  /** @param {Control} control */
  function createExtras({ parameter: { name } }) {
    const present = element("span", { class: "present", title: LEARNED_TEXT, hidden: true });
    const hint = `Show the gradient for ${name}: what each x contributes to it`;
    const act = { "aria-label": `${name}: its gradient`, onclick: () => onLearning(name) };
    const learns = element("button", { class: "learns", title: hint, ...act }, "its gradient");
    extras.set(name, { present, learns });
    return [present, learns];
  }

  return {
    element: card,
    /** Show the nodes of another page below the title. @param {Node[]} nodes */
    hold(nodes) {
      held = nodes;
      if (state) draw();
    },
    /** @param {CardState} next */
    update(next) {
      state = next;
      card.style.setProperty("--colour", state.colour);
      card.classList.toggle("hidden-rule", state.hidden);
      picker.update(state.entry);
      sliders.show(state.controls);
      state.controls.forEach(({ parameter: { name } }, index) => {
        const { learns } = /** @type {Extras} */ (extras.get(name));
        learns.hidden = state.learning[index] === null;
        setAttribute(learns, "aria-pressed", String(state.learning[index] === true));
      });
      draw();
    },
    /**
     * @param {typeof failure} line name and result of the failed check, or null
     * @param {string} alike a sentence about the most similar catalogue rule, or ""
     */
    showFailing(line, alike) {
      failure = line;
      close = alike;
      draw();
    },
    /** Show the values learned so far. @param {Object<string, string>} texts the values, by parameter */
    showPresent(texts) {
      for (const [name, { present }] of extras) {
        const text = texts[name] ?? "";
        setText(present, text);
        setAttribute(present, "hidden", !text);
      }
    },
  };
}

/** @param {string} name @param {boolean} checked @param {(on: boolean) => void} onTurn called with whether it is on */
function makeSwitch(name, checked, onTurn) {
  const onchange = (/** @type {*} */ { currentTarget }) => onTurn(currentTarget.checked);
  return h("label", {}, h("input", { type: "checkbox", checked, onchange }), name);
}
