// The names of the sections below; at most one is open, and the page draws it.

import { element, setAttribute } from "../../elements/dom.js";

/**
 * One button a section: pressed where it is open.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, sections: Object<string, string>}} options
 *   ``sections`` holds the names by key
 */
export function createTabs(host, { store, sections }) {
  const buttons = Object.entries(sections).map(([key, name]) => {
    const press = () => toggle(key);
    return { key, button: element("button", { onclick: press, "data-section": key }, name) };
  });
  host.prepend(
    element(
      "div",
      { role: "group", "aria-label": "Sections", class: "sections" },
      ...buttons.map((one) => one.button),
    ),
  );

  /** @param {string} key */
  function toggle(key) {
    const choice = store.now;
    store.change({ ...choice, section: choice.section === key ? "" : key });
    const isCalm = host.closest(".calm") !== null; // its curves stay in view
    if (choice.section !== key && !isCalm) host.scrollIntoView({ block: "center", behavior: "smooth" });
  }

  const stop = store.follow(({ section }) => {
    for (const { key, button } of buttons) setAttribute(button, "aria-expanded", String(key === section));
  });
  return { destroy: stop };
}
