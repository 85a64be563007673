// A button that keeps its focus, and a number with its name.

import { element, setAttribute } from "../../elements/dom.js";

/** @param {string} name @param {() => void} act @param {string} [kind] */
export function button(name, act, kind = "") {
  const onclick = () => node.getAttribute("aria-disabled") ?? act();
  const node = element("button", { type: "button", class: kind, onclick }, name);
  return node;
}

/** A button that keeps the focus also while it does nothing. @param {HTMLElement} node @param {boolean} is */
export function available(node, is) {
  setAttribute(node, "aria-disabled", is ? null : "true");
}

/** A number with its name. @param {string} name */
export function metric(name) {
  const value = element("span", {});
  return { value, element: element("span", { class: "metric" }, element("b", {}, name), " ", value) };
}
