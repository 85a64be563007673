// Sliders for parameters of the op, the rules or the loss, which change the user's choice.

import { element } from "../elements/dom.js";
import { createSlider } from "../elements/slider.js";
import { getControlValue, getDisplayName } from "../formula/controls.js";
import { getBounds, setParameter } from "./choice.js";

/** @import { Control } from "../formula/controls.js" */
/** @import { Store } from "./store.js" */

/** Create the slider that sets a parameter in the store. @param {Store} store @param {Control} control */
export function createParameterSlider(store, control) {
  const { name, parameter } = control;
  const slider = createSlider({
    name: getDisplayName(parameter),
    meaning: parameter.meaning,
    onChange: (value, phase, byKeys) =>
      store.change(setParameter(store.current, control, value), { phase, target: byKeys ? name : null }),
  });
  return {
    name,
    element: slider.element,
    /** @param {Control} current the control, whose bounds may have changed */
    show(current) {
      const { scale, reach } = current.parameter;
      const bounds = getBounds(store.current, current);
      const value = getControlValue(store.current.parameters, current);
      slider.update(value, bounds, scale === "log" && bounds[0] > 0, reach);
    },
  };
}

/**
 * Create a list of sliders that set parameters in the store.
 * @param {Store} store
 * @param {(control: Control) => Element[]} [createExtras] returns further elements for the label of a new slider
 */
export function createSliders(store, createExtras = () => []) {
  const host = element("div", { class: "sliders" });
  let rows = /** @type {ReturnType<typeof createParameterSlider>[]} */ ([]);

  /** @param {Control} control */
  function createRow(control) {
    const row = createParameterSlider(store, control);
    row.element.children[0].after(...createExtras(control));
    return row;
  }

  return {
    element: host,
    /** @param {Control[]} controls */
    show(controls) {
      if (rows.map(({ name }) => name).join() !== controls.map(({ name }) => name).join()) {
        rows = controls.map(createRow);
        host.replaceChildren(...rows.map((row) => row.element));
      }
      controls.forEach((control, index) => rows[index].show(control));
    },
  };
}
