// The store of the user's choice. It tells its subscribers what has changed and how.

/** @import { Choice } from "./choice.js" */
/**
 * How a change was made: "moving" during a drag, "settled" afterwards. Consecutive settled changes of the same
 * ``target`` share one history entry. On "arrival" the address stays as visited; from "start" on we write it.
 * @typedef {{phase: "moving"|"settled", target: string|null,
 *   origin: "hand"|"history"|"arrival"|"start"}} Change
 */
/** @typedef {(choice: Choice, change: Change) => void} Listener */
/** @typedef {ReturnType<typeof createStore>} Store */

/** @type {Change} */
const AT_REST = { phase: "settled", target: null, origin: "hand" };

/** Create a store for the settings that the user chooses on a page, initially empty. */
export function createStore() {
  /** @type {Choice|null} */
  let choice = null;
  /** @type {Set<Listener>} */
  const watchers = new Set();
  return {
    /** The settings that the user has chosen, or null if there are none yet. */
    get choice() {
      return choice;
    },
    /** The settings that the user has chosen, on pages that always have some. */
    get current() {
      return /** @type {Choice} */ (choice);
    },
    /**
     * Call a function on every change of the settings. Returns a function that stops these calls.
     * @param {Listener} listener
     */
    subscribe(listener) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
    /** Call a function on every change of the settings, and immediately if there are any. @param {Listener} listener */
    subscribeNow(listener) {
      const stop = this.subscribe(listener);
      if (choice) listener(choice, AT_REST);
      return stop;
    },
    /** Replace the settings and notify all subscribers. @param {Choice} next @param {Partial<Change>} [change] */
    change(next, change = {}) {
      choice = next;
      for (const listener of [...watchers]) listener(next, { ...AT_REST, ...change });
    },
  };
}

/** The store of the user's settings, which all parts of a page share. */
export const store = createStore();
