// A small window below its title, as a details element that closes by itself.

import { element } from "./dom.js";

/**
 * Create a small window that opens below its title. It closes on Escape, on a click elsewhere, and when it loses the
 * focus.
 * @param {string} name the title @param {...Node} content @returns {HTMLDetailsElement}
 */
export function createMenu(name, ...content) {
  const menu = element(
    "details",
    { class: "menu" },
    element("summary", {}, name),
    element("div", { class: "window" }, ...content),
  );
  const close = () => (menu.open = false);
  const closeOutside = (/** @type {Event} */ event) => !event.composedPath().includes(menu) && close();
  menu.addEventListener("toggle", () => {
    if (menu.open) document.addEventListener("pointerdown", closeOutside);
    else document.removeEventListener("pointerdown", closeOutside);
  });
  menu.addEventListener("focusout", (/** @type {FocusEvent} */ event) => {
    // the event's target or an ancestor: notebook cells focus themselves
    const next = /** @type {Node|null} */ (event.relatedTarget);
    if (next && !menu.contains(next) && !event.composedPath().includes(next)) close();
  });
  menu.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    menu.querySelector("summary")?.focus();
  });
  return menu;
}
