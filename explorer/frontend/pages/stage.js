// Explore, Train or Study on a stage, as a lesson is: key P puts it there, P or Escape takes it off.

import {
  onPresentingChange,
  isPresenting,
  toPresentingAddress,
  setPresenting,
} from "../choice/presentation.js";
import { element } from "../elements/dom.js";
import { followKey } from "../elements/keys.js";

const PRESENTING = "presenting";
const OPEN = ".menu[open], dialog[open]"; // Escape closes them first

/**
 * Have the instrument of a page stand on the stage that its address asks for.
 * @param {HTMLElement} root
 * @param {{store: import("../choice/store.js").Store, onChange: () => void}} options ``onChange``: type and lines have
 *   another size now
 */
export function createStage(root, { store, onChange }) {
  const end = new AbortController();
  const leave = element(
    "button",
    { class: "leave", onclick: () => setPresenting(false) },
    "Leave the stage (p)",
  );
  root.append(leave);

  function show() {
    const presented = isPresenting();
    leave.hidden = !presented;
    if (root.classList.contains(PRESENTING) === presented) return;
    root.classList.toggle(PRESENTING, presented);
    markPage(presented);
    onChange();
  }

  /** @param {KeyboardEvent} event */
  function pressed({ key }) {
    if (key === "Escape" && isPresenting() && !document.querySelector(OPEN)) setPresenting(false);
  }

  /** @param {MouseEvent} event */
  function goesAlong({ target }) {
    const link = target instanceof Element ? target.closest("a[href]") : null;
    if (
      link instanceof HTMLAnchorElement &&
      !link.download &&
      link.origin === location.origin &&
      isPresenting()
    )
      link.href = toPresentingAddress(link.href);
  }

  onPresentingChange(show, end.signal);
  followKey("p", () => setPresenting(!isPresenting()), end.signal);
  addEventListener("keydown", pressed, { capture: true, signal: end.signal }); // before a menu has closed
  root.addEventListener("click", goesAlong, { capture: true, signal: end.signal });
  const stop = store.subscribe(show); // Back and Forward lead to addresses on a stage and off it
  show();
  return {
    destroy() {
      end.abort();
      stop();
      root.classList.remove(PRESENTING);
      markPage(document.querySelector(`.instrument.${PRESENTING}`) !== null);
      leave.remove();
    },
  };
}

/** By a class: with ``:root:has(…)`` the browser styles all of a page anew at each change. @param {boolean} isOnStage */
function markPage(isOnStage) {
  document.documentElement.classList.toggle("on-stage", isOnStage);
}
