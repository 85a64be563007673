// Presentation mode: the page fills the window in large type. The address stores whether it is on.

const [WORD, CHANGE_EVENT] = ["present", "presenting"];

/** Return whether presentation mode is on. */
export const isPresenting = () => new URLSearchParams(location.search).has(WORD);

/** Turn presentation mode on or off, without a new history entry. @param {boolean} on */
export function setPresenting(on) {
  const query = new URLSearchParams(location.search);
  on ? query.set(WORD, "1") : query.delete(WORD);
  history.replaceState(history.state, "", location.pathname + (query.size ? `?${query}` : ""));
  dispatchEvent(new Event(CHANGE_EVENT));
}

/** Subscribe to changes of presentation mode. @param {() => void} callback @param {AbortSignal} signal */
export function onPresentingChange(callback, signal) {
  addEventListener(CHANGE_EVENT, callback, { signal });
}

/** Return the address of another page in presentation mode. @param {string} href @returns {string} */
export function toPresentingAddress(href) {
  const address = new URL(href, document.baseURI);
  address.searchParams.set(WORD, "1");
  return address.href;
}
