// Steps of Back and Forward, heard before Streamlit hears them.

/** @typedef {(event: PopStateEvent) => void} Follow */

/** @type {Set<Follow>} */
const followers = new Set();
// A window calls its listeners in the order they came, and this module is there before Streamlit is. It would
// run the script at every step, and push the page's address once more when that has run.
window.addEventListener("popstate", (event) => followers.forEach((follow) => follow(event)));

/** Subscribe to every step; returns a function that unsubscribes. @param {Follow} follow */
export function followSteps(follow) {
  followers.add(follow);
  return () => followers.delete(follow);
}
