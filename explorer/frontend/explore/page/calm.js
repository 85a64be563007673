// The simple form of the page Explore, with curves, cards and a row of buttons. The button All tools or the key E opens
// everything else.

import { setOpenTools, getOpenTools } from "../../choice/tools.js";
import { element, setAttribute } from "../../elements/dom.js";
import { followKey } from "../../elements/keys.js";
import { formatNumber, writeMinus } from "../../formula/numbers.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * Create the buttons that open or close the page's further tools.
 * @param {HTMLElement} root an element that gets the class "calm" while these tools are closed
 * @param {HTMLElement} bar the element for the buttons
 * @param {{store: import("../../choice/store.js").Store, onChange: () => void}} options ``onChange``: called when tools
 *   are opened or closed
 */
export function createToolButtons(root, bar, { store, onChange }) {
  const tools = element(
    "button",
    { class: "all-tools", onclick: turn, title: "Open and close all tools (key E)" },
    "All tools",
  );
  const g = element("button", { class: "g-chip", onclick: turnG });
  bar.prepend(tools);
  bar.append(g);
  const end = new AbortController();
  followKey("e", turn, end.signal, root);

  /** @param {Choice} choice */
  const isOpen = (choice) => getOpenTools(choice) === "all";

  function turn() {
    setOpenTools(store, isOpen(store.current) ? "" : "all");
  }

  function turnG() {
    root.classList.toggle("with-g");
    show(store.current);
    if (root.matches(".with-g"))
      /** @type {HTMLElement|null} */ (root.querySelector(".strip input"))?.focus();
  }

  /** @param {Choice} choice */
  function show(choice) {
    const calm = !isOpen(choice);
    const before = root.matches(".calm");
    root.classList.toggle("calm", calm);
    root.classList.toggle("whole", !calm);
    document.documentElement.dataset.explorer = calm ? "calm" : "whole";
    setAttribute(tools, "aria-expanded", String(!calm));
    const value = `g = ${writeMinus(formatNumber(choice.g))}`;
    g.replaceChildren(value, element("span", {}, ", the gradient that arrives"));
    setAttribute(g, "aria-label", `${value}, the upstream gradient: change it`);
    setAttribute(g, "aria-expanded", String(root.matches(".with-g")));
    if (calm !== before) onChange();
  }

  const stop = store.subscribeNow(show);
  return {
    destroy() {
      end.abort();
      stop();
    },
  };
}
