// The calm page of Explore: curves, cards and a line to press; all other tools are one press away, by name or by key E.

import { setOpenTools, getOpenTools } from "../../choice/tools.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { followKey } from "../../elements/keys.js";
import { formatNumber } from "../../formula/numbers.js";

/** @import { Choice } from "../../choice/choice.js" */

/**
 * Have a press open and close all tools, and another the slider of g.
 * @param {HTMLElement} root of the instrument, which is calm while it has that class
 * @param {HTMLElement} bar of the names to press
 * @param {{store: import("../../choice/store.js").Store, onChange: () => void}} options ``onChange``: other parts are
 *   visible now
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
    root.classList.toggle("whole", !calm); // beside a calm one, which it is about to replace
    root.classList.toggle("opened", choice.section !== "");
    setAttribute(tools, "aria-expanded", String(!calm));
    setText(g, `g = ${formatNumber(choice.g).replace("-", "−")}`);
    setAttribute(g, "aria-label", `${g.textContent}, the upstream gradient: change it`);
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
