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

/** Create a store for the user's choice, initially empty. */
export function createStore() {
  /** @type {Choice|null} */
  let choice = null;
  /** @type {Set<Listener>} */
  const watchers = new Set();
  return {
    /** The user's current choice, or null if there is none yet. */
    get choice() {
      return choice;
    },
    /** The user's current choice, on pages that always have one. */
    get current() {
      return /** @type {Choice} */ (choice);
    },
    /** Call a function on every change of the choice. Returns a function that ends this. @param {Listener} listener */
    subscribe(listener) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
    /** Call a function on every change of the choice, and immediately if there is one. @param {Listener} listener */
    subscribeNow(listener) {
      const stop = this.subscribe(listener);
      if (choice) listener(choice, AT_REST);
      return stop;
    },
    /** Replace the choice and notify all subscribers. @param {Choice} next @param {Partial<Change>} [change] */
    change(next, change = {}) {
      choice = next;
      for (const listener of [...watchers]) listener(next, { ...AT_REST, ...change });
    },
  };
}

/** The store of the user's choice, shared by all parts of a page. */
export const store = createStore();
