// The control that selects which backward rules learn which parameters.

import { getEntries } from "../../choice/choice.js";
import { parseLearning, formatLearning, toggleLearning } from "../../choice/learning.js";
import { element, setAttribute } from "../../elements/dom.js";

/** @import { Learning } from "../../choice/learning.js" */

/** @param {import("../state/tasks.js").Setting} setting @param {import("./fields.js").Actions} actions */
export function createLearningField({ label, meaning }, { onChange, choice }) {
  const rows = element("div", {});
  const field = element(
    "div",
    { class: "setting wide learning", role: "group", "aria-label": label, title: meaning },
    element("span", {}, label),
    rows,
  );

  /** Return a function that creates the row of buttons of one parameter. @param {Learning[]} learning */
  function makeRowFactory(learning) {
    return (/** @type {Learning} */ { name, rules }) =>
      element(
        "div",
        { role: "group", "aria-label": name },
        element("code", {}, name),
        ...rules.map(({ rule, learns }) =>
          element(
            "button",
            {
              "aria-pressed": String(learns),
              "aria-label": `${name} learns with ${rule.label}`,
              onclick: () => onChange(formatLearning(toggleLearning(learning, name, rule.key))),
            },
            rule.label,
          ),
        ),
      );
  }

  let displayed = "";
  return {
    element: field,
    /** @param {string} text */
    show(text) {
      const { op, rules } = getEntries(choice());
      const learning = parseLearning(op, rules, text);
      const state = JSON.stringify(learning.map(({ name, rules: each }) => [name, each.map(stateOf)]));
      setAttribute(field, "hidden", learning.length === 0);
      if (state === displayed) return;
      const focusedLabel = /** @type {HTMLElement|null} */ (rows.querySelector(":focus"))?.ariaLabel;
      rows.replaceChildren(...learning.map(makeRowFactory(learning)));
      displayed = state;
      for (const button of rows.querySelectorAll("button"))
        if (button.ariaLabel === focusedLabel) button.focus();
    },
  };
}

/** @param {Learning["rules"][number]} one */
function stateOf({ rule, learns }) {
  return [rule.key, rule.label, learns];
}
