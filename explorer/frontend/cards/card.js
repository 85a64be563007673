// A card: the op or one rule, with its colour, formula and parameters.

import { element, freshId, setAttribute, setText } from "../elements/dom.js";
import { isCustom } from "../choice/entries.js";
import { getDisplayName } from "../formula/controls.js";
import { createOwnField } from "./own.js";
import { createSlider } from "../elements/slider.js";

const BEGINS = "The learned value so far; the slider sets its start";

/** @import { Control } from "../formula/controls.js" */
/** @import { Entry } from "../formula/entry.js" */
/**
 * The state of a card. ``bounds`` are the ends of each control's slider, ``doubt`` why a rule may not suit;
 * ``autograd`` what torch's own gradient of the op is; ``learning`` says of each control whether its parameter
 * learns, null where it cannot, and ``part`` where its gradient comes from; ``share`` is what a rule passes of
 * straight-through's gradient, in words.
 * @typedef {{entry: Entry, autograd: string, colour: string, doubt: string, controls: Control[], values: number[],
 *   bounds: [number, number][], learning: (boolean|null)[], part: {text: string, formula: string}|null,
 *   share: string, hidden: boolean, drawing: {symmetric: boolean, zero: boolean}|null}} CardState ``drawing``: the
 *   switches of a rule that is drawn
 * @typedef {(control: Control, value: number, phase: "moving"|"settled",
 *   byKeys: boolean) => void} OnParameter
 */

/**
 * A card; its actions stand in ``buttons``, made by the caller.
 * @param {{kind: "op"|"rule", buttons: Element[], read: import("./own.js").Read|null,
 *   onParameter: OnParameter, onLearning: (name: string) => void, onFailing: () => void,
 *   onEntry: (entry: Entry) => void, onSymmetric: (on: boolean) => void, onZero: (on: boolean) => void}} options
 */
export function createCard({ kind, buttons, read, onParameter, onLearning, onFailing, onEntry, ...drawn }) {
  const id = freshId();
  const name = element("h2", { id });
  const formula = element("code", { class: "formula" });
  const doubt = element("p", { class: "doubt" });
  const sliders = element("div", { class: "sliders" });
  const part = element("p", { class: "part" }, element("span"), element("code"));
  const share = element("p", { class: "share" });
  const failing = element("button", { class: "failing", onclick: onFailing, hidden: "" });
  const edit = element("button", { class: "edit", onclick: turn, "aria-expanded": "false" }, "⋯");
  const symmetric = switchOf("Symmetric", drawn.onSymmetric);
  const zero = switchOf("0 outside", drawn.onZero);
  const switches = element("div", { class: "switches", hidden: true }, symmetric.element, zero.element);
  const card = element(
    "div",
    { role: "group", "aria-labelledby": id, class: `card ${kind}` },
    element("div", { class: "top" }, name, ...buttons, edit),
    formula,
    failing,
    doubt,
    ...(kind === "rule" ? [switches] : []),
    sliders,
    part,
    share,
  );
  /** Open or close what a calm page leaves away. */
  function turn() {
    setAttribute(edit, "aria-expanded", String(card.classList.toggle("opened")));
  }

  /** @type {ReturnType<typeof createOwnField>|null} */
  let field = null;
  /** @type {{name: string, inFormulas: string, slider: ReturnType<typeof createSlider>, learns: HTMLElement, present: HTMLElement}[]} */
  let rows = [];

  /** @param {Entry} entry */
  function showOwn(entry) {
    const own = isCustom(entry.key);
    if (own && !field) {
      field = createOwnField({ kind, read, onEntry });
      formula.after(field.element);
    } else if (!own && field) {
      field.forget();
      field.element.remove();
      field = null;
    }
    formula.hidden = own;
    field?.update(entry);
  }

  /** @param {CardState} state */
  function showSliders({ controls, values, bounds, learning }) {
    if (rows.map((one) => one.name).join() !== controls.map((one) => one.name).join()) {
      rows = controls.map((control) => ({
        name: control.name,
        inFormulas: control.parameter.name,
        slider: createSlider({
          name: getDisplayName(control.parameter),
          meaning: control.parameter.meaning,
          onChange: (...change) => onParameter(control, ...change),
        }),
        learns: learnsOf(control),
        present: element("span", { class: "present", title: BEGINS, hidden: true }),
      }));
      rows.forEach(({ slider, learns, present }) => slider.element.children[0].after(present, learns));
      sliders.replaceChildren(...rows.map((one) => one.slider.element));
    }
    rows.forEach(({ slider, learns }, index) => {
      const log = controls[index].parameter.scale === "log" && bounds[index][0] > 0;
      slider.update(values[index], bounds[index], log, controls[index].parameter.reach);
      learns.hidden = learning[index] === null;
      setAttribute(learns, "aria-pressed", String(learning[index] === true));
    });
  }

  /** The button that lets a parameter learn. @param {Control} control */
  function learnsOf({ parameter: { name } }) {
    const hint = `Show the gradient for ${name}: what each x contributes to it`;
    const named = { "aria-label": `${name} learns`, title: hint };
    const act = { onclick: () => onLearning(name) };
    return element("button", { class: "learns", ...named, ...act }, "learns");
  }

  /** A check that fails, or none. @param {{name?: string, sentence: string}|null} line */
  function showFailing(line) {
    failing.hidden = !line;
    if (line) setText(failing, `✗ fails: ${line.name}`);
    setAttribute(failing, "title", line && line.sentence);
  }

  /** The present values of learning parameters. @param {Object<string, string>} texts by name */
  function showPresent(texts) {
    for (const { inFormulas, present } of rows) {
      const text = texts[inFormulas] ?? "";
      setText(present, text);
      setAttribute(present, "hidden", !text);
    }
  }

  /** @param {CardState} state */
  function showPart({ part: known }) {
    part.hidden = !known;
    if (!known) return;
    setText(part.children[0], known.text);
    setText(part.children[1], known.formula);
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
      setText(doubt, state.doubt);
      showOwn(entry);
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
    focusFormula: () => field?.focus(),
    forgetFormula: () => field?.forget(),
  };
}

/** A switch with its name. @param {string} name @param {(on: boolean) => void} onTurn */
function switchOf(name, onTurn) {
  const box = element("input", { type: "checkbox", onchange: () => onTurn(box.checked) });
  return { box, element: element("label", {}, box, name) };
}
