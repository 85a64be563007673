// Data of a training on its way to Explore: kept in this tab until it is removed, and in no link.

import { keep, kept } from "./session.js";

/**
 * A histogram of what came into an op; ``of`` says whose it is.
 * @typedef {{of: string, edges: number[], counts: number[]}} Carried
 */

const NAME = "carried";

/** @returns {Carried|null} */
export function carriedData() {
  return kept(NAME);
}

/** @param {Carried|null} data */
export function carry(data) {
  keep(NAME, data);
}
