// The control that sets which rules train which parameters.

import { getEntries } from "../../choice/choice.js";
import { parseLearning, formatLearning, toggleLearning } from "../../choice/learning.js";
import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";

/** @import { Learning } from "../../choice/learning.js" */

/**
 * Create the control.
 * @param {import("../state/tasks.js").Setting} setting @param {import("./fields.js").Actions} actions
 */
export function createLearningField({ label, meaning }, { onChange, choice }) {
  const named = { role: "group", "aria-label": label, title: meaning };
  const field = element("div", { class: "setting wide learning", ...named });

  /** @param {Learning[]} learning @param {Learning} parameter the parameter of this row */
  function makeRow(learning, { name, rules }) {
    const buttons = rules.map(({ rule, learns }) => {
      const onclick = () => onChange(formatLearning(toggleLearning(learning, name, rule.key)));
      const state = { "aria-pressed": String(learns), "aria-label": `${name} learns with ${rule.label}` };
      return h("button", { key: rule.key, ...state, onclick }, rule.label);
    });
    return h("div", { key: name, role: "group", "aria-label": name }, h("code", {}, name), buttons);
  }

  return {
    element: field,
    /** @param {string} text the setting, as in a link */
    show(text) {
      const { op, rules } = getEntries(choice());
      const learning = parseLearning(op, rules, text);
      field.hidden = learning.length === 0;
      const rows = learning.map((parameter) => makeRow(learning, parameter));
      render(field, h("span", {}, label), h("div", {}, rows));
    },
  };
}
