// The state of a chart as plain data: its curves and its visible range.

/** @import { Range } from "../scene/axes.js" */
/** @import { Picture } from "../scene/picture.js" */
/**
 * The state of a chart. ``home``: the visible range after a reset; ``requested``: the range that the user has
 * requested, null once curves of another range are shown.
 * @typedef {{picture: Picture|null, home: Range, requested: Range|null}} State
 */

/** @type {State} */
export const EMPTY = { picture: null, home: [-3, 3], requested: null };

/**
 * Return the state of a chart with new curves. A reset will show their range of x, unless the user has requested it.
 * @param {State} state @param {Picture} picture @returns {State}
 */
export function withPicture(state, picture) {
  const isRequested = String(picture.range) === String(state.requested);
  return isRequested ? { ...state, picture } : { picture, home: picture.range, requested: null };
}

/**
 * Return the state of a chart in which the user has requested a range of x.
 * @param {State} state @param {Range} requested @returns {State}
 */
export function withRequest(state, requested) {
  return { ...state, requested };
}

/** Return the range of x at which the next zoom or pan starts. @param {State} state @returns {Range} */
export function getCurrentView({ requested, home }) {
  return requested ?? home;
}
