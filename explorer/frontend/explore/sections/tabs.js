// The tabs that open the sections below the chart. At most one section is open.

import { getLearnable } from "../../choice/choice.js";
import { element, setAttribute } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";

const FIRST = ["formula", "code", "checks", "data"];
const FEW = 4; // so many tabs need no menu
const FILL_MS = 5000; // time for a section that a link opens to get its contents

/**
 * Create a tab for each section below the chart. If there are many, those used less are in a menu while closed. The tab
 * on equilibria is visible only while a parameter can learn.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, sections: Object<string, string>}} options ``sections``:
 *   labels by key
 */
export function createTabs(host, { store, sections }) {
  const buttons = Object.entries(sections).map(([key, name]) => {
    const press = () => toggle(key);
    return { key, button: element("button", { onclick: press, "data-section": key }, name) };
  });
  const others = buttons.filter(({ key }) => buttons.length > FEW && !FIRST.includes(key));
  const first = buttons.filter((one) => !others.includes(one)).map(({ button }) => button);
  const menu = createMenu("More sections");
  const [summary, list] = /** @type {Iterable<HTMLElement>} */ (menu.children);
  host.prepend(
    element(
      "div",
      { role: "group", "aria-label": "Sections", class: "sections flex-row" },
      ...first,
      ...(others.length ? [menu] : []),
    ),
  );

  /** @param {string} key the section's key */
  function toggle(key) {
    const choice = store.current;
    store.change({ ...choice, section: choice.section === key ? "" : key });
    if (choice.section !== key) bringIntoView(host, end.signal);
    const pressed = others.find((one) => one.key === key)?.button; // has moved, and lost the focus
    if (pressed) (list.contains(pressed) ? summary : pressed).focus({ preventScroll: true });
  }

  /** Move the tab of the open section out of the menu, and the others into it. @param {string} section */
  function arrangeMenu(section) {
    const inside = others.filter(({ key }) => key !== section).map(({ button }) => button);
    if (inside.length === list.childElementCount && inside.every((button) => list.contains(button))) return;
    menu.open = false;
    list.replaceChildren(...inside);
    menu.before(...others.map(({ button }) => button).filter((button) => !inside.includes(button)));
  }

  const end = new AbortController();
  const stop = store.subscribeNow((choice, { origin }) => {
    const { section } = choice;
    const isOpen = buttons.some(({ key }) => key === section); // "paste" opens a field, not a section
    host.closest(".instrument")?.classList.toggle("opened", isOpen);
    arrangeMenu(section);
    for (const { key, button } of buttons) {
      setAttribute(button, "aria-expanded", String(key === section));
      button.hidden = key === "rest" && section !== key && !getLearnable(choice).length;
    }
    if (isOpen && origin === "arrival") bringIntoView(host, end.signal);
  });
  return {
    destroy() {
      stop();
      end.abort();
    },
  };
}

/**
 * Keep a section that was just opened in view until it has its contents or the user scrolls. On the simple page, the
 * curves stay in view as well.
 * @param {HTMLElement} host the element with the tabs @param {AbortSignal} signal
 */
function bringIntoView(host, signal) {
  const panels = /** @type {HTMLElement[]} */ ([...(host.parentElement?.querySelectorAll(".panel") ?? [])]);
  const observer = new ResizeObserver(() => {
    if (!host.closest(".calm")) host.scrollIntoView({ block: "center" });
    else if (matchMedia("(max-width: 50rem)").matches) panels.find(({ hidden }) => !hidden)?.scrollIntoView();
  });
  const stop = () => observer.disconnect();
  for (const panel of panels) observer.observe(panel);
  for (const name of ["wheel", "pointerdown", "keydown"])
    window.addEventListener(name, stop, { once: true, capture: true, passive: true, signal });
  signal.addEventListener("abort", stop);
  setTimeout(stop, FILL_MS);
}
