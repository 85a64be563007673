// The state of a chart as plain data: its curves and its visible range.

/** @import { Range } from "../scene/axes.js" */
/** @import { Picture } from "../scene/picture.js" */
/**
 * ``home`` is the view after a reset; ``requested`` the view that the user requested, null after a picture of another
 * view.
 * @typedef {{picture: Picture|null, home: Range, requested: Range|null}} State
 */

/** @type {State} */
export const EMPTY = { picture: null, home: [-3, 3], requested: null };

/**
 * Return a chart's state with new curves. The chart resets to the x range of these curves, unless the user requested
 * the range.
 * @param {State} state @param {Picture} picture @returns {State}
 */
export function withPicture(state, picture) {
  const isRequested = String(picture.range) === String(state.requested);
  return isRequested ? { ...state, picture } : { picture, home: picture.range, requested: null };
}

/**
 * Return a chart's state with the x range that the user requests.
 * @param {State} state @param {Range} requested @returns {State}
 */
export function withRequest(state, requested) {
  return { ...state, requested };
}

/** Return the x range from which the next zoom or pan starts. @param {State} state @returns {Range} */
export function getCurrentView({ requested, home }) {
  return requested ?? home;
}
