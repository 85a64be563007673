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
  const elsewhere = (/** @type {Event} */ event) => !event.composedPath().includes(menu) && close();
  menu.addEventListener("toggle", () => {
    if (menu.open) document.addEventListener("pointerdown", elsewhere);
    else document.removeEventListener("pointerdown", elsewhere);
  });
  menu.addEventListener("focusout", (/** @type {FocusEvent} */ event) => {
    const next = /** @type {Node|null} */ (event.relatedTarget); // or what is around: a notebook's cell takes the focus of its text
    if (next && !menu.contains(next) && !event.composedPath().includes(next)) close();
  });
  menu.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    menu.querySelector("summary")?.focus();
  });
  return menu;
}
