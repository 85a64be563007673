// Data of a training carried to Explore: stored in this tab until they are removed, and in no link.

import { keep, load } from "./session.js";

/**
 * A histogram of what came into an op: ``of`` says whose it is, ``means`` are those of the numbers in each bin,
 * null in an empty one; what lies beyond the ends is in the outermost, and ``note`` says so where that is much.
 * @typedef {{of: string, edges: number[], counts: number[], means: (number|null)[], note: string}} Carried
 */

const NAME = "carried-numbers";

/** @returns {Carried|null} */
export function carriedData() {
  return load(NAME);
}

/** @param {Carried|null} data */
export function carry(data) {
  keep(NAME, data);
}
