// The dialog that branches a training run: from the displayed step on, it continues with one change.

import { getCatalogue, explainTrainingRefusal } from "../../choice/entries.js";
import { element, createId, setAttribute } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";
import { h, render } from "../../elements/render.js";

/** @import { Part } from "../../elements/render.js" */
/** @import { Time } from "./view-model.js" */
/**
 * An entry of a list: its value, its text, and why it is disabled, or "".
 * @typedef {[string, string, string]} ListOption
 */

const ALL = /** @type {ListOption} */ (["rule", "All lines", ""]); // for all curves
const KINDS = /** @type {ListOption[]} */ ([
  ["rule", "Backward rule", ""],
  ["op", "Op", ""],
  ["lr", "Learning rate lr", ""],
]);
const TYPED = { inputmode: "decimal", autocomplete: "off", spellcheck: "false" };
const OVER = "Scrub back first: after the last step nothing is left to train.";

/**
 * Create the dialog.
 * @param {{onBranch: (name: string, value: string) => void}} on ``onBranch``: called with the changed setting and its
 *   value
 */
export function createBranchDialog({ onBranch }) {
  let time = /** @type {Time|null} */ (null);
  let refusal = "";
  const id = createId();
  const body = element("div", { class: "branch" });
  const menu = createMenu("Branch …", body);
  menu.addEventListener("toggle", draw);
  const valueOf = (/** @type {string} */ name) =>
    /** @type {HTMLSelectElement|null} */ (body.querySelector(`#${id}-${name}`))?.value ?? "";

  /** @param {string} message */
  function refuse(message) {
    refusal = message;
    draw();
  }

  function branch() {
    const kind = valueOf("kind");
    const number = Number(valueOf("lr"));
    if (kind === "lr" && !(valueOf("lr").trim() && Number.isFinite(number) && number > 0))
      return refuse("lr must be a number above 0.");
    menu.open = false;
    menu.querySelector("summary")?.focus();
    if (kind === "lr") return onBranch("lr", String(number));
    return kind === "op" ? onBranch("op", valueOf("op")) : onBranch(valueOf("line"), valueOf("rule"));
  }

  /**
   * Return a select element or, without options, the text field of the learning rate.
   * @param {string} name @param {string} label
   * @param {string} kind the kind of change for which it is visible, "" for all @param {Part[]} [options]
   */
  function makeField(name, label, kind, options) {
    const named = { id: `${id}-${name}` };
    const hidden = kind !== "" && kind !== (valueOf("kind") || "rule");
    const onkeydown = (/** @type {KeyboardEvent} */ { key }) => key === "Enter" && branch();
    const field = options
      ? h("select", { ...named, onchange: () => refuse("") }, options)
      : h("input", { ...named, ...TYPED, value: time?.lr, onkeydown });
    return h("div", { class: "setting", hidden }, h("label", { for: named.id }, label), field);
  }

  function draw() {
    if (!time || !menu.open) return; // the lists are long, and a run updates the page many times a second
    const { hasRun, lines, most, spikes, step } = time;
    const names = lines.map(({ key, label }) => /** @type {ListOption} */ ([key, label, ""]));
    const toOption = (/** @type {Parameters<typeof explainTrainingRefusal>[0]} */ entry) =>
      /** @type {ListOption} */ ([entry.key, entry.label, explainTrainingRefusal(entry, spikes)]);
    const ops = Object.values(getCatalogue().ops).map(toOption);
    const rules = Object.values(getCatalogue().rules).map(toOption);
    const others = rules.filter(([key]) => !names.some(([other]) => other === key));
    const several = names.length > 1;
    render(
      body,
      h("p", { class: "main" }, step < most ? `From step ${step} on` : OVER),
      makeField("kind", "What changes", "", makeOptions(KINDS)),
      makeField("line", "Of the line", "rule", makeOptions(several ? [...names, ALL] : names)),
      makeField("rule", "Goes on with", "rule", makeOptions([...names, ...others], several ? 1 : 0)),
      makeField("op", "Goes on with op", "op", makeOptions(ops)),
      makeField("lr", "New lr", "lr"),
      h("p", { class: "next text-small", role: "alert" }, refusal),
      h("button", { class: "primary", disabled: !hasRun || step >= most, onclick: branch }, "Branch"),
    );
  }

  return {
    element: menu,
    /** @param {Time} now */
    show(now) {
      time = now;
      setAttribute(menu, "data-off", !now.hasRun);
      const title = /** @type {Element} */ (menu.firstElementChild);
      setAttribute(title, "aria-disabled", now.hasRun ? null : "true");
      draw();
    },
  };
}

/** @param {ListOption[]} options @param {number} [first] index of the initial selection */
function makeOptions(options, first = 0) {
  return options.map(([value, text, refusal], index) => {
    const state = { disabled: refusal !== "", title: refusal || null, selected: index === first };
    return h("option", { key: value, value, ...state }, text);
  });
}
