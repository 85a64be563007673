// A row of buttons of which one is pressed.

import { element, setAttribute, setText } from "../../elements/dom.js";

/**
 * @template Value
 * @param {string} name of the row
 * @param {(value: Value) => void} onChoose
 */
export function createSwitch(name, onChoose) {
  const row = element("div", { class: "switch", role: "group", "aria-label": name });
  /** @type {Value[]} */
  let values = [];

  function made() {
    const place = row.children.length;
    return element("button", { type: "button", onclick: () => onChoose(values[place]) });
  }

  return {
    element: row,
    /** @param {{value: Value, label: string}[]} options @param {Value} chosen */
    show(options, chosen) {
      values = options.map(({ value }) => value);
      while (row.children.length < options.length) row.append(made());
      while (row.children.length > options.length) row.lastChild?.remove();
      options.forEach(({ value, label }, place) => {
        setText(row.children[place], label);
        setAttribute(row.children[place], "aria-pressed", String(value === chosen));
      });
    },
  };
}
