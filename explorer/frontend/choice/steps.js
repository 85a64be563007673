// Back and Forward events, handled before Streamlit.

/** @typedef {(event: PopStateEvent) => void} StepListener */

/** @type {Set<StepListener>} */
const listeners = new Set();
// Listeners are called in the order of registration, and this module is loaded before Streamlit, which would rerun
// the script at every step and then push the page's address again.
window.addEventListener("popstate", (event) => listeners.forEach((follow) => follow(event)));

/** Subscribe to Back and Forward; return a function that unsubscribes. @param {StepListener} listener */
export function onHistoryStep(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
