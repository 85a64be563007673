// The store of the choice: listeners receive every change and how it was made.

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

/** Create a store without a choice. */
export function createStore() {
  /** @type {Choice|null} */
  let choice = null;
  /** @type {Set<Listener>} */
  const watchers = new Set();
  return {
    /** The current choice, or null. */
    get choice() {
      return choice;
    },
    /** The current choice; the page must have one. */
    get current() {
      return /** @type {Choice} */ (choice);
    },
    /** Subscribe to every change; return a function that unsubscribes. @param {Listener} listener */
    subscribe(listener) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
    /** Subscribe, and call the listener at once if there is a choice. @param {Listener} listener */
    subscribeNow(listener) {
      const stop = this.subscribe(listener);
      if (choice) listener(choice, AT_REST);
      return stop;
    },
    /** Replace the choice. @param {Choice} next @param {Partial<Change>} [change] */
    change(next, change = {}) {
      choice = next;
      for (const listener of [...watchers]) listener(next, { ...AT_REST, ...change });
    },
  };
}

/** The store shared by all parts of a page. */
export const store = createStore();
