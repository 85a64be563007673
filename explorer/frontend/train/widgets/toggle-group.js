// A row of buttons of which exactly one is pressed.

import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";

/**
 * Create the row of buttons.
 * @template Value @param {string} name its accessible name
 * @param {(value: Value) => void} onChoose called with the value of a button
 */
export function createToggleGroup(name, onChoose) {
  const row = element("div", { class: "switch", role: "group", "aria-label": name });
  return {
    element: row,
    /** @param {{value: Value, label: string}[]} options @param {Value} chosen */
    show(options, chosen) {
      const buttons = options.map(({ value, label }) => {
        const pressed = String(value === chosen);
        return h("button", { "aria-pressed": pressed, onclick: () => onChoose(value) }, label);
      });
      render(row, buttons);
    },
  };
}
