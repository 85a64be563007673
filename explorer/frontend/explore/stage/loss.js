// Controls of the loss, a function of a stochastic op's output: its formula and parameters.

import { createFormulaField } from "../../cards/formula-field.js";
import { isStochastic, getLossControls, getLoss, setLoss } from "../../choice/choice.js";
import { addCustomEntry } from "../../choice/entries.js";
import { createSliders } from "../../choice/sliders.js";
import { element } from "../../elements/dom.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * Create the formula field and the sliders of the loss.
 * @param {import("../../choice/store.js").Store} store
 * @param {import("../../cards/formula-field.js").Read|null} read parses formulas; null without Python
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
  const sliders = createSliders(store);
  const title = element("label", {}, "Loss: ", element("code", {}, "f ="), field.typed);
  const container = element(
    "div",
    { class: "loss text-small", hidden: true },
    title,
    field.message,
    sliders.element,
  );
  return {
    element: container,
    /** Show the loss if something is stochastic. Call it before the chart measures its size. @param {Choice} choice */
    show(choice) {
      container.hidden = !isStochastic(choice);
      container.closest(".chart")?.classList.toggle("has-loss", !container.hidden);
      if (container.hidden) return field.forget();
      field.update(getLoss(choice));
      sliders.show(getLossControls(choice));
    },
  };
}
