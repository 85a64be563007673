// Presentation mode: the page fills the window in large type, for a projector. It is on if the address has ``present``.

const [WORD, SLIDE, CHANGE_EVENT] = ["present", "slide", "presenting"];
// Menus, dialogs and popovers. While one is open, Escape closes it instead of presentation mode.
const OPEN = ".menu[open], dialog[open], :popover-open, .pencil-words:not([hidden])";

// What closes "Why?", and on a stage what has opened something, which it closes again.
const OPENERS =
  '.one:not([hidden]) .close, .presenting :is([aria-expanded="true"]:not(.why-of), .explained[open] > summary)';

/** Return whether presentation mode is on, which shows the page in large type. */
export const isPresenting = () => new URLSearchParams(location.search).has(WORD);

/** Turn presentation mode on or off, without a new entry in the browser history. @param {boolean} on */
export function setPresenting(on) {
  setWord(WORD, on ? 1 : null);
  setWord(SLIDE, null);
  dispatchEvent(new Event(CHANGE_EVENT));
}

/** Return the number of the slide in the address of a stage, or 0 if it has none. */
export const getSlide = () =>
  (isPresenting() && Number(new URLSearchParams(location.search).get(SLIDE))) || 0;

/** Write the number of the slide to the address of a stage. @param {number|null} number null for none */
export const setSlide = (number) => isPresenting() && setWord(SLIDE, number);

/** @param {string} word a word of the address @param {number|null} value null removes it */
function setWord(word, value) {
  const query = new URLSearchParams(location.search);
  value === null ? query.delete(word) : query.set(word, String(value));
  history.replaceState(history.state, "", location.pathname + (query.size ? `?${query}` : ""));
}

/**
 * Call a function at each change of presentation mode, until the signal aborts.
 * @param {() => void} callback @param {AbortSignal} signal
 */
export function onPresentingChange(callback, signal) {
  addEventListener(CHANGE_EVENT, callback, { signal });
}

/**
 * Close the panel "Why?" on Escape or, on a stage, what else a button has opened. With nothing open, turn presentation
 * mode off, until the signal aborts.
 * @param {AbortSignal} signal
 */
export function leaveOnEscape(signal) {
  const handleKey = (/** @type {KeyboardEvent} */ { key, target }) => {
    const isTaken = document.querySelector(OPEN) || /** @type {Element} */ (target).matches("textarea");
    if (key !== "Escape" || isTaken) return;
    const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(OPENERS)]);
    const opener = all.find((each) => each.checkVisibility());
    if (opener) opener.click();
    else if (isPresenting()) setPresenting(false);
  };
  // captured, so that it runs before a menu closes itself
  addEventListener("keydown", handleKey, { capture: true, signal });
}

/** Return the address of another page with presentation mode on. @param {string} href @returns {string} */
export function toPresentingAddress(href) {
  const address = new URL(href, document.baseURI);
  address.searchParams.set(WORD, "1");
  return address.href;
}
