// The buttons that add control rules, to which other backward rules are compared.

import { canAddRule, addRule } from "../../choice/choice.js";
import { getCatalogue, findEntry } from "../../choice/entries.js";
import { element, setAttribute } from "../../elements/dom.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * @param {HTMLElement} host of the cards
 * @param {ReturnType<typeof import("../../choice/store.js").createStore>} store
 */
export function createControls(host, store) {
  const buttons = getCatalogue().controls.map((key) => {
    const { label, purpose } = /** @type {import("../../formula/entry.js").Rule} */ (findEntry("rule", key));
    const add = () => store.change(addRule(store.current, key));
    return {
      key,
      node: element("button", { title: purpose, "aria-label": `Add control ${label}`, onclick: add }, label),
    };
  });
  host.append(
    element(
      "div",
      { class: "controls" },
      element("span", {}, "Add a control:"),
      ...buttons.map(({ node }) => node),
    ),
  );
  return {
    /** @param {Choice} choice */
    show(choice) {
      for (const { key, node } of buttons)
        setAttribute(node, "disabled", !canAddRule(choice) || choice.rules.some((rule) => rule.key === key));
    },
  };
}
