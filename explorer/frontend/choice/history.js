// The browser's history of choices: its address, Back and Forward.

import { addressOf, titleOf } from "./address.js";
import { learnAll, ownEntries } from "./entries.js";
import { afterFrame } from "../elements/dom.js";
import { followSteps } from "./steps.js";

/** @import { Choice } from "./choice.js" */

/**
 * Keep the address bar, the page's title and Back and Forward in step with a store. Returns what ends it.
 * @param {import("./store.js").Store} store
 */
export function followAddress(store) {
  const page = location.pathname;
  let last = /** @type {string|null} */ (null);
  let unsaid = /** @type {(() => void)|null} */ (null);
  const say = () => {
    if (location.pathname === page) unsaid?.(); // another page's address is not ours
    unsaid = null;
  };
  const stop = store.subscribe((choice, { phase, thing, origin }) => {
    if (phase !== "settled") return;
    const again = origin !== "hand" || (thing !== null && thing === last);
    if (origin === "hand" || origin === "history") last = thing;
    if (origin === "history") unsaid = null;
    say();
    const address = origin === "arrival" ? location.href : addressOf(choice, location);
    unsaid = () => {
      if (document.title !== titleOf(choice)) document.title = titleOf(choice);
      if (origin !== "history") write(choice, address, again);
    };
    if (origin === "hand")
      afterFrame(say); // the browser takes longer over a new address than over a curve
    else say();
  });
  const popped = (/** @type {PopStateEvent} */ event) => {
    const state = event.state?.instrument;
    if (!state) return;
    if (location.pathname === page) event.stopImmediatePropagation(); // no change of page
    learnAll(state.own);
    store.change(state.choice, { origin: "history" });
  };
  const leaveSteps = followSteps(popped);
  return () => {
    stop();
    say();
    leaveSteps();
  };
}

/**
 * @param {Choice} choice
 * @param {string} address
 * @param {boolean} again in the place of the present entry of the history
 */
function write(choice, address, again) {
  if (!again && address === location.pathname + location.search) return;
  const state = { instrument: { choice, own: ownEntries(choice) } };
  history[again ? "replaceState" : "pushState"](state, "", address);
}
