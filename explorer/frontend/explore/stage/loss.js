// The controls of the loss for stochastic ops and rules: a field for its formula, and its parameters.

import { createFormulaField } from "../../cards/formula-field.js";
import {
  getBounds,
  isStochastic,
  getLossControls,
  getLoss,
  setLoss,
  setParameter,
} from "../../choice/choice.js";
import { addCustomEntry } from "../../choice/entries.js";
import { createSlider } from "../../elements/slider.js";
import { element } from "../../elements/dom.js";
import { getControlValue } from "../../formula/controls.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * Create the field and the sliders of the loss.
 * @param {import("../../choice/store.js").Store} store @param {import("../../cards/formula-field.js").Read|null} read
 */
export function createLoss(store, read) {
  const field = createFormulaField({
    kind: "loss",
    label: "Loss",
    read,
    onEntry(/** @type {import("../../formula/draws.js").Loss|null} */ loss) {
      if (!loss) return;
      addCustomEntry("loss", loss);
      store.change(setLoss(store.current, loss.key));
    },
  });
  const sliders = element("div", { class: "sliders" });
  /** @type {{name: string, slider: ReturnType<typeof createSlider>}[]} */
  let rows = [];

  /** Show a slider for each parameter of the loss. @param {Choice} choice */
  function showSliders(choice) {
    const controls = getLossControls(choice);
    if (rows.map(({ name }) => name).join() !== controls.map(({ name }) => name).join()) {
      rows = controls.map((control) => ({
        name: control.name,
        slider: createSlider({
          name: control.name,
          meaning: control.parameter.meaning,
          onChange: (value, phase, byKeys) =>
            store.change(setParameter(store.current, control, value), {
              phase,
              target: byKeys ? control.name : null,
            }),
        }),
      }));
      sliders.replaceChildren(...rows.map(({ slider }) => slider.element));
    }
    controls.forEach((control, index) => {
      const { reach } = control.parameter;
      rows[index].slider.update(
        getControlValue(choice.parameters, control),
        getBounds(choice, control),
        false,
        reach,
      );
    });
  }

  const title = element("label", {}, "Loss: ", element("code", {}, "f ="), field.typed);
  const container = element("div", { class: "loss", hidden: true }, title, field.message, sliders);
  return {
    element: container,
    /** Show the controls of the loss before the curves are drawn, because they need space. @param {Choice} choice */
    show(choice) {
      container.hidden = !isStochastic(choice);
      container.closest(".chart")?.classList.toggle("has-loss", !container.hidden);
      if (container.hidden) return field.forget();
      field.update(getLoss(choice));
      showSliders(choice);
    },
  };
}
