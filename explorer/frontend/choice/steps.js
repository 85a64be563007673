// Back and Forward in the browser, handled before Streamlit sees them.

/** A function to call when the user goes back or forward. @typedef {(event: PopStateEvent) => void} StepListener */

/** @type {Set<StepListener>} */
const listeners = new Set();
// This module is loaded before Streamlit, so its listener runs first. Streamlit would rerun the script at every step
// and push the page's address again.
window.addEventListener("popstate", (event) => listeners.forEach((follow) => follow(event)));

/**
 * Call a function whenever the user goes back or forward. Returns a function that stops these calls.
 * @param {StepListener} listener the function, which may keep the event from Streamlit
 */
export function onHistoryStep(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
