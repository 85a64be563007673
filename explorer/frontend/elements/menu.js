// A small window below its name, for words or things to choose: native details that close by themselves.

import { element } from "./dom.js";

/**
 * A window that opens below ``name``. It closes with Escape, with a click elsewhere and when the focus leaves.
 * @param {string} name
 * @param {...Node} content
 * @returns {HTMLDetailsElement}
 */
export function createMenu(name, ...content) {
  const menu = element(
    "details",
    { class: "menu" },
    element("summary", {}, name),
    element("div", { class: "window" }, ...content),
  );
  const close = () => (menu.open = false);
  const elsewhere = (/** @type {Event} */ event) =>
    !menu.contains(/** @type {Node|null} */ (event.target)) && close();
  menu.addEventListener("toggle", () => {
    if (menu.open) document.addEventListener("pointerdown", elsewhere);
    else document.removeEventListener("pointerdown", elsewhere);
  });
  menu.addEventListener("focusout", (/** @type {FocusEvent} */ event) => {
    if (event.relatedTarget && !menu.contains(/** @type {Node} */ (event.relatedTarget))) close();
  });
  menu.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    menu.querySelector("summary")?.focus();
  });
  return menu;
}
