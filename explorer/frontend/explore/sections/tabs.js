// The names of the sections below; at most one is open, and the page draws it.

import { element, setAttribute } from "../../elements/dom.js";

const ARRIVES_MS = 5000; // within which what a link opens is filled

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
    const choice = store.current;
    store.change({ ...choice, section: choice.section === key ? "" : key });
    const isCalm = host.closest(".calm") !== null; // its curves stay in view
    if (choice.section !== key && !isCalm) host.scrollIntoView({ block: "center", behavior: "smooth" });
  }

  const end = new AbortController();
  const stop = store.subscribeNow(({ section }, { origin }) => {
    for (const { key, button } of buttons) setAttribute(button, "aria-expanded", String(key === section));
    if (section && origin === "arrival") bringIntoView(host, end.signal);
  });
  return {
    destroy() {
      stop();
      end.abort();
    },
  };
}

/**
 * Have what a link opens in view, below curves that fill the window, until a hand moves or it is filled.
 * @param {HTMLElement} host of the names of sections
 * @param {AbortSignal} signal
 */
function bringIntoView(host, signal) {
  const filled = new ResizeObserver(() => {
    const isCalm = host.closest(".calm") !== null; // its curves stay in view, and the section below them
    if (!isCalm) host.scrollIntoView({ block: "center" });
  });
  const leave = () => filled.disconnect();
  for (const panel of host.parentElement?.querySelectorAll(".panel") ?? []) filled.observe(panel);
  for (const name of ["wheel", "pointerdown", "keydown"])
    window.addEventListener(name, leave, { once: true, capture: true, passive: true, signal });
  signal.addEventListener("abort", leave);
  setTimeout(leave, ARRIVES_MS);
}
