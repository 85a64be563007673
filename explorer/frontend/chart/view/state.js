// The state of a chart: its picture and its view, as plain data.

/** @import { Range } from "../scene/axes.js" */
/** @import { Picture } from "../scene/picture.js" */
/**
 * ``home`` is where a reset leads; ``requested`` the view that the hand has asked for, null since another
 * one came.
 * @typedef {{picture: Picture|null, home: Range, requested: Range|null}} State
 */

/** @type {State} */
export const EMPTY = { picture: null, home: [-3, 3], requested: null };

/**
 * With a picture: one of a range that the hand has not asked for is a new home.
 * @param {State} state
 * @param {Picture} picture
 * @returns {State}
 */
export function withPicture(state, picture) {
  const isRequested = String(picture.range) === String(state.requested);
  return isRequested ? { ...state, picture } : { picture, home: picture.range, requested: null };
}

/** With a view that the hand asks for. @param {State} state @param {Range} requested @returns {State} */
export function withRequest(state, requested) {
  return { ...state, requested };
}

/** The view from which the hand goes on. @param {State} state @returns {Range} */
export function viewOf({ requested, home }) {
  return requested ?? home;
}
