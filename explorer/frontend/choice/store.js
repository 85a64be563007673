// The one choice in the browser. Whoever changes it says how; whoever shows it is told.

/** @typedef {import("./choice.js").Choice} Choice */
/**
 * How a change came about. A change is "moving" while something is dragged and "settled" at rest.
 * Settled changes in a row with one and the same ``thing`` are one step of Back. At "arrival" the address
 * is as the visitor has it, from "start" on it is ours.
 * @typedef {{phase: "moving"|"settled", thing: string|null,
 *   origin: "hand"|"history"|"arrival"|"start"}} Change
 */
/** @typedef {(choice: Choice, change: Change) => void} Watcher */
/** @typedef {ReturnType<typeof createStore>} Store */

/** A store without a choice yet. */
export function createStore() {
  /** @type {Choice|null} */
  let choice = null;
  /** @type {Set<Watcher>} */
  const watchers = new Set();
  return {
    /** What is chosen now; null before the page has said it. */
    get choice() {
      return choice;
    },
    /**
     * Be told of every change; returns what ends it.
     * @param {Watcher} watcher
     */
    subscribe(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    /**
     * Replace the choice.
     * @param {Choice} next
     * @param {Partial<Change>} [change]
     */
    change(next, change = {}) {
      choice = next;
      const full = { phase: "settled", thing: null, origin: "hand", ...change };
      for (const watcher of [...watchers]) watcher(next, /** @type {Change} */ (full));
    },
  };
}

/** What all parts of the page share, whichever of the two pages it is. */
export const store = createStore();
