// A row of buttons, exactly one of which is pressed.

import { updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";

/** @template Value @param {string} name of the row @param {(value: Value) => void} onChoose */
export function createSwitch(name, onChoose) {
  const row = element("div", { class: "switch", role: "group", "aria-label": name });
  /** @type {Value[]} */
  let values = [];

  /** @param {number} index */
  function createButton(index) {
    return element("button", { onclick: () => onChoose(values[index]) });
  }

  return {
    element: row,
    /** @param {{value: Value, label: string}[]} options @param {Value} chosen */
    show(options, chosen) {
      values = options.map(({ value }) => value);
      updateChildren(row, options, createButton, (button, { value, label }) => {
        setText(button, label);
        setAttribute(button, "aria-pressed", String(value === chosen));
      });
    },
  };
}
