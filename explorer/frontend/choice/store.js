// The store of the one choice: a change carries its manner, subscribers are called with both.

/** @import { Choice } from "./choice.js" */
/**
 * The manner of a change. A change is "moving" while something is dragged and "settled" at rest.
 * Settled changes in a row with one and the same ``thing`` are one step of Back. At "arrival" the address
 * is as the visitor has it, from "start" on it is ours.
 * @typedef {{phase: "moving"|"settled", thing: string|null,
 *   origin: "hand"|"history"|"arrival"|"start"}} Change
 */
/** @typedef {(choice: Choice, change: Change) => void} Watcher */
/** @typedef {ReturnType<typeof createStore>} Store */

/** @type {Change} */
const AT_REST = { phase: "settled", thing: null, origin: "hand" };

/** A store without a choice yet. */
export function createStore() {
  /** @type {Choice|null} */
  let choice = null;
  /** @type {Set<Watcher>} */
  const watchers = new Set();
  return {
    /** The present choice; null before the page has one. */
    get choice() {
      return choice;
    },
    /** The present choice of a page that has one. */
    get now() {
      return /** @type {Choice} */ (choice);
    },
    /** Subscribe to every change; returns a function that unsubscribes. @param {Watcher} watcher */
    subscribe(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    /** Subscribe, and be called at once where there is a choice. @param {Watcher} watcher */
    follow(watcher) {
      const stop = this.subscribe(watcher);
      if (choice) watcher(choice, AT_REST);
      return stop;
    },
    /** Replace the choice. @param {Choice} next @param {Partial<Change>} [change] */
    change(next, change = {}) {
      choice = next;
      for (const watcher of [...watchers]) watcher(next, { ...AT_REST, ...change });
    },
  };
}

/** The store that all parts of a page share. */
export const store = createStore();
