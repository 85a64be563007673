// The buttons that add control rules, which a useful rule must beat.

import { canAddRule, addRule } from "../../choice/choice.js";
import { getCatalogue, findEntry } from "../../choice/entries.js";
import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * Create the buttons that add controls, below the cards.
 * @param {HTMLElement} cards @param {ReturnType<typeof import("../../choice/store.js").createStore>} store
 */
export function createControls(cards, store) {
  const host = element("div", { class: "controls flex-wrap text-small" });
  cards.append(host);
  return {
    /** @param {Choice} choice */
    show(choice) {
      const buttons = getCatalogue().controls.map((key) => {
        const { label, purpose } = /** @type {import("../../formula/entry.js").Rule} */ (
          findEntry("rule", key)
        );
        const disabled = !canAddRule(choice) || choice.rules.some((rule) => rule.key === key);
        const onclick = () => store.change(addRule(store.current, key));
        return h(
          "button",
          { title: purpose, "aria-label": `Add control ${label}`, disabled, onclick },
          label,
        );
      });
      render(host, h("span", {}, "Add a control:"), buttons);
    },
  };
}
