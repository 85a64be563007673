// The state of a chart as plain data: its curves and its visible range.

/** @import { Range } from "../scene/axes.js" */
/** @import { Picture } from "../scene/picture.js" */
/**
 * ``home``: the visible range after a reset; ``requested``: the range that the user requested, null once curves of
 * another range are shown.
 * @typedef {{picture: Picture|null, home: Range, requested: Range|null}} State
 */

/** @type {State} */
export const EMPTY = { picture: null, home: [-3, 3], requested: null };

/**
 * Return a chart's state with new curves. A reset returns to their range of x, unless the user had requested it.
 * @param {State} state @param {Picture} picture @returns {State}
 */
export function withPicture(state, picture) {
  const isRequested = String(picture.range) === String(state.requested);
  return isRequested ? { ...state, picture } : { picture, home: picture.range, requested: null };
}

/**
 * Return a chart's state in which the user requests a range of x.
 * @param {State} state @param {Range} requested @returns {State}
 */
export function withRequest(state, requested) {
  return { ...state, requested };
}

/** Return the range of x from which the next zoom or pan starts. @param {State} state @returns {Range} */
export function getCurrentView({ requested, home }) {
  return requested ?? home;
}
