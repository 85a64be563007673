// Sliders for parameters of the op, the rules or the loss, which change the user's choice.

import { element } from "../elements/dom.js";
import { createSlider } from "../elements/slider.js";
import { getControlValue, getDisplayName } from "../formula/controls.js";
import { getBounds, setParameter } from "./choice.js";

/** @import { Control } from "../formula/controls.js" */

/**
 * Create a list of sliders that set parameters in the store.
 * @param {import("./store.js").Store} store
 * @param {(control: Control) => Element[]} [createExtras] returns further elements for the label of a new slider
 */
export function createSliders(store, createExtras = () => []) {
  const host = element("div", { class: "sliders" });
  /** @type {{name: string, slider: ReturnType<typeof createSlider>}[]} */
  let rows = [];

  /** @param {Control} control */
  function createRow(control) {
    const { name, parameter } = control;
    const slider = createSlider({
      name: getDisplayName(parameter),
      meaning: parameter.meaning,
      onChange: (value, phase, byKeys) =>
        store.change(setParameter(store.current, control, value), { phase, target: byKeys ? name : null }),
    });
    slider.element.children[0].after(...createExtras(control));
    return { name, slider };
  }

  return {
    element: host,
    /** @param {Control[]} controls */
    show(controls) {
      if (rows.map(({ name }) => name).join() !== controls.map(({ name }) => name).join()) {
        rows = controls.map(createRow);
        host.replaceChildren(...rows.map(({ slider }) => slider.element));
      }
      controls.forEach((control, index) => {
        const { scale, reach } = control.parameter;
        const bounds = getBounds(store.current, control);
        const value = getControlValue(store.current.parameters, control);
        rows[index].slider.update(value, bounds, scale === "log" && bounds[0] > 0, reach);
      });
    },
  };
}
