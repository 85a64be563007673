// Presentation mode of Explore, Train and Study: key P starts it, P or Escape ends it.

import * as presentation from "../choice/presentation.js";
import { element } from "../elements/dom.js";
import { followKey } from "../elements/keys.js";

const PRESENTING = "presenting";

/**
 * Turn presentation mode of a page on and off when its address changes.
 * @param {HTMLElement} root
 * @param {{store: import("../choice/store.js").Store, onChange: () => void}} options ``onChange``: called after the
 *   sizes of text and lines have changed
 */
export function createStage(root, { store, onChange }) {
  const end = new AbortController();
  const leave = element(
    "button",
    { class: "leave", onclick: () => presentation.setPresenting(false) },
    "Leave the stage (p)",
  );
  root.append(leave);

  function show() {
    const isOn = presentation.isPresenting();
    leave.hidden = !isOn;
    if (root.classList.contains(PRESENTING) === isOn) return;
    root.classList.toggle(PRESENTING, isOn);
    markPage(isOn);
    onChange();
  }

  /** @param {MouseEvent} event */
  function keepPresenting({ target }) {
    const link = target instanceof Element ? target.closest("a[href]") : null;
    if (
      link instanceof HTMLAnchorElement &&
      !link.download &&
      link.origin === location.origin &&
      presentation.isPresenting()
    )
      link.href = presentation.toPresentingAddress(link.href);
  }

  presentation.onPresentingChange(show, end.signal);
  followKey("p", () => presentation.setPresenting(!presentation.isPresenting()), end.signal);
  presentation.leaveOnEscape(end.signal);
  root.addEventListener("click", keepPresenting, { capture: true, signal: end.signal });
  const stop = store.subscribe(show); // Back and Forward may change the mode
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

/**
 * Mark the page with a class in presentation mode. The selector ``:root:has(…)`` would make the browser restyle the
 * whole page at each change.
 * @param {boolean} isOnStage
 */
function markPage(isOnStage) {
  document.documentElement.classList.toggle("on-stage", isOnStage);
}
