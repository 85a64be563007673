// The tabs that open the sections below the chart. At most one section is open.

import { getLearnable } from "../../choice/choice.js";
import { element, setAttribute } from "../../elements/dom.js";

const FILL_MS = 5000; // time for a section that a link opens to get its contents

/**
 * Create a tab for each section below the chart. The tab on equilibria exists only while a parameter can learn.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, sections: Object<string, string>}} options ``sections``:
 *   labels by key
 */
export function createTabs(host, { store, sections }) {
  const buttons = Object.entries(sections).map(([key, name]) => {
    const press = () => toggle(key);
    return { key, button: element("button", { onclick: press, "data-section": key }, name) };
  });
  host.prepend(
    element(
      "div",
      { role: "group", "aria-label": "Sections", class: "sections flex-row" },
      ...buttons.map((one) => one.button),
    ),
  );

  /** Open or close a section. @param {string} key of the section */
  function toggle(key) {
    const choice = store.current;
    store.change({ ...choice, section: choice.section === key ? "" : key });
    const isCalm = host.closest(".calm") !== null; // on the simple page, the curves stay in view
    if (choice.section !== key && !isCalm) host.scrollIntoView({ block: "center", behavior: "smooth" });
  }

  const end = new AbortController();
  const stop = store.subscribeNow((choice, { origin }) => {
    const { section } = choice;
    for (const { key, button } of buttons) {
      setAttribute(button, "aria-expanded", String(key === section));
      button.hidden = key === "rest" && section !== key && !getLearnable(choice).length;
    }
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
 * Keep a section that a link opens in view until it has its contents or the user scrolls.
 * @param {HTMLElement} host of the tabs @param {AbortSignal} signal
 */
function bringIntoView(host, signal) {
  const observer = new ResizeObserver(() => {
    const isCalm = host.closest(".calm") !== null; // on the simple page, the curves stay in view above the section
    if (!isCalm) host.scrollIntoView({ block: "center" });
  });
  const stop = () => observer.disconnect();
  for (const panel of host.parentElement?.querySelectorAll(".panel") ?? []) observer.observe(panel);
  for (const name of ["wheel", "pointerdown", "keydown"])
    window.addEventListener(name, stop, { once: true, capture: true, passive: true, signal });
  signal.addEventListener("abort", stop);
  setTimeout(stop, FILL_MS);
}
