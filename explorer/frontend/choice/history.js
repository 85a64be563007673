// The address bar and browser history, kept in step with the user's choice.

import { toAddress, toTitle } from "./address.js";
import { addCustomEntries, getCustomEntries } from "./entries.js";
import { runAfterFrame } from "../elements/dom.js";
import { followKey } from "../elements/keys.js";
import { onHistoryStep } from "./steps.js";

/** @import { Choice } from "./choice.js" */

/**
 * Keep address, page title and browser history up to date. Ctrl+Z goes back, Ctrl+Shift+Z forward. Returns a function
 * that stops this.
 * @param {import("./store.js").Store} store
 */
export function syncAddress(store) {
  const page = location.pathname;
  let lastTarget = /** @type {string|null} */ (null);
  let pendingWrite = /** @type {(() => void)|null} */ (null);
  const flush = () => {
    if (location.pathname === page) pendingWrite?.(); // not if the user has moved to another page since
    pendingWrite = null;
  };
  const unsubscribe = store.subscribe((choice, { phase, target: target, origin }) => {
    if (phase !== "settled") return;
    const isReplacing = origin !== "hand" || (target !== null && target === lastTarget);
    if (origin === "hand" || origin === "history") lastTarget = target;
    if (origin === "history") pendingWrite = null;
    flush();
    const address = origin === "arrival" ? location.href : toAddress(choice, location);
    pendingWrite = () => {
      if (document.title !== toTitle(choice)) document.title = toTitle(choice);
      if (origin !== "history") writeAddress(choice, address, isReplacing);
    };
    if (origin === "hand")
      runAfterFrame(flush); // deferred, because setting the address takes longer than drawing a curve
    else flush();
  });
  const onPopState = (/** @type {PopStateEvent} */ event) => {
    const state = event.state?.instrument;
    if (!state) return;
    // keep Streamlit from loading a page: the step stays on this one
    if (location.pathname === page) event.stopImmediatePropagation();
    addCustomEntries(state.own);
    store.change(state.choice, { origin: "history" });
  };
  const unsubscribeSteps = onHistoryStep(onPopState);
  const end = new AbortController();
  const undo = (/** @type {KeyboardEvent} */ { shiftKey }) => {
    flush();
    if (shiftKey) history.forward();
    else if (history.state?.depth) history.back();
  };
  followKey("z", undo, end.signal, undefined, true);
  return () => {
    end.abort();
    unsubscribe();
    flush();
    unsubscribeSteps();
  };
}

/**
 * @param {Choice} choice @param {string} address
 * @param {boolean} isReplacing whether to replace the present history entry
 */
function writeAddress(choice, address, isReplacing) {
  if (!isReplacing && address === location.pathname + location.search) return;
  // number of history entries of this app below this one
  const depth = (history.state?.depth ?? 0) + Number(!isReplacing);
  const state = { instrument: { choice, own: getCustomEntries(choice) }, depth };
  history[isReplacing ? "replaceState" : "pushState"](state, "", address);
}
