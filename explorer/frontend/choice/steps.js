// Handles the browser's Back and Forward before Streamlit does.

/** @typedef {(event: PopStateEvent) => void} StepListener */

/** @type {Set<StepListener>} */
const listeners = new Set();
// Listeners are called in the order of registration, and this module is loaded before Streamlit, which would rerun
// the script at every step and then push the page's address again.
window.addEventListener("popstate", (event) => listeners.forEach((follow) => follow(event)));

/**
 * Call a function whenever the user goes back or forward. Returns a function that stops these calls.
 * @param {StepListener} listener
 */
export function onHistoryStep(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
