// Whether a page is on a stage: over everything, in type that the last row can read. The address says so.

const [WORD, CHANGED] = ["present", "presenting"];

/** Whether the address asks for a stage. */
export const isPresented = () => new URLSearchParams(location.search).has(WORD);

/** Put the page on a stage or take it off; the entry of the history stays the same. @param {boolean} on */
export function present(on) {
  const query = new URLSearchParams(location.search);
  on ? query.set(WORD, "1") : query.delete(WORD);
  history.replaceState(history.state, "", location.pathname + (query.size ? `?${query}` : ""));
  dispatchEvent(new Event(CHANGED));
}

/** Be told when that has changed. @param {() => void} changed @param {AbortSignal} signal */
export function followStage(changed, signal) {
  addEventListener(CHANGED, changed, { signal });
}

/** An address that leads to another page on the same stage. @param {string} href @returns {string} */
export function onStage(href) {
  const address = new URL(href, document.baseURI);
  address.searchParams.set(WORD, "1");
  return address.href;
}
