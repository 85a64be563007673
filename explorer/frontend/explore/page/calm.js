// The simple form of the page Explore: curves, cards and a row of buttons. A button or the key E opens all other tools.

import { setOpenTools, getOpenTools } from "../../choice/tools.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { followKey } from "../../elements/keys.js";
import { formatNumber } from "../../formula/numbers.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * Create the buttons that show or hide the page's additional tools.
 * @param {HTMLElement} root of the instrument, whose class is "calm" while the tools are closed
 * @param {HTMLElement} bar of the buttons
 * @param {{store: import("../../choice/store.js").Store, onChange: () => void}} options ``onChange``: the visible parts
 *   have changed
 */
export function createCalm(root, bar, { store, onChange }) {
  const tools = element(
    "button",
    { class: "all-tools", onclick: turn, title: "Open and close all tools (key E)" },
    "All tools",
  );
  const g = element("button", { class: "g-chip", onclick: turnG });
  bar.append(tools, g);
  const end = new AbortController();
  followKey("e", turn, end.signal, root);

  /** Return whether all tools of the page are open. @param {Choice} choice */
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

  /** Show the tools that the user has opened. @param {Choice} choice */
  function show(choice) {
    const calm = !isOpen(choice);
    const before = root.matches(".calm");
    root.classList.toggle("calm", calm);
    root.classList.toggle("whole", !calm); // a simple page may stand next to this one until it is replaced
    root.classList.toggle("opened", choice.section !== "");
    setAttribute(tools, "aria-expanded", String(!calm));
    const value = `g = ${formatNumber(choice.g).replace("-", "−")}`;
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
