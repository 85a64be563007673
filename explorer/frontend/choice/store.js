// The store of the user's choice, which notifies subscribers of each change.

/** @import { Choice } from "./choice.js" */
/**
 * How the settings were changed. ``phase``: "moving" during a drag, then "settled"; ``target``: the changed setting,
 * since successive changes of one target share a history entry; ``origin``: the user, Back or Forward, a visited link
 * ("arrival", keeps the address), or the initial state ("start").
 * @typedef {{phase: "moving"|"settled", target: string|null, origin: "hand"|"history"|"arrival"|"start"}} Change
 */
/** A function that is called with changed settings. @typedef {(choice: Choice, change: Change) => void} Listener */
/** The store of a page's settings. @typedef {ReturnType<typeof createStore>} Store */

/** @type {Change} */
const AT_REST = { phase: "settled", target: null, origin: "hand" };

/** Create an empty store for the settings of a page. */
export function createStore() {
  /** @type {Choice|null} */
  let choice = null;
  /** @type {Set<Listener>} */
  const watchers = new Set();
  return {
    /** The page's settings, or null before the first change. */
    get choice() {
      return choice;
    },
    /** The page's settings. Only for use after the first change. */
    get current() {
      return /** @type {Choice} */ (choice);
    },
    /**
     * Call a function at each change of the settings. Returns a function that stops these calls.
     * @param {Listener} listener
     */
    subscribe(listener) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
    /**
     * Call a function at each change of the settings, and now if there are any. Returns as ``subscribe``.
     * @param {Listener} listener
     */
    subscribeNow(listener) {
      const stop = this.subscribe(listener);
      if (choice) listener(choice, AT_REST);
      return stop;
    },
    /** @param {Choice} next @param {Partial<Change>} [change] how they have changed */
    change(next, change = {}) {
      choice = next;
      for (const listener of [...watchers]) listener(next, { ...AT_REST, ...change });
    },
  };
}

/** The store of a page's settings, shared by all its parts. */
export const store = createStore();
