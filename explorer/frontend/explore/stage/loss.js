// The loss of what draws, beside the upstream gradient: the field of its formula, and its parameters.

import { createOwnField } from "../../cards/own.js";
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
import { valueOf } from "../../formula/controls.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * @param {import("../../choice/store.js").Store} store
 * @param {import("../../cards/own.js").Read|null} read
 */
export function createLoss(store, read) {
  const field = createOwnField({
    kind: "loss",
    read,
    onEntry(/** @type {import("../../formula/draws.js").Loss} */ loss) {
      addCustomEntry("loss", loss);
      store.change(setLoss(store.current, loss.key));
    },
  });
  const sliders = element("div", { class: "sliders" });
  /** @type {{name: string, slider: ReturnType<typeof createSlider>}[]} */
  let rows = [];

  /** @param {Choice} choice */
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
        valueOf(choice.parameters, control),
        getBounds(choice, control),
        false,
        reach,
      );
    });
  }

  const whole = element("div", { class: "loss", hidden: true }, field.element, sliders);
  return {
    element: whole,
    /** Take the space it needs, before curves are drawn. @param {Choice} choice */
    show(choice) {
      whole.hidden = !isStochastic(choice);
      whole.closest(".chart")?.classList.toggle("has-loss", !whole.hidden);
      if (whole.hidden) return field.forget();
      field.update(getLoss(choice));
      showSliders(choice);
    },
  };
}
