// Names at the ends of curves, pushed apart so that none lies on another: numbers in, numbers out.

import { clampTo } from "../../formula/numbers.js";

/**
 * The positions of labels whose curves end at ``wanted`` px: in the same order from the top,
 * ``height`` apart or more, between ``low`` and ``high``, and no further away than that takes.
 * @param {number[]} wanted
 * @param {number} height px from one to the next
 * @param {number} low the highest position, in px from the top
 * @param {number} high the lowest
 * @returns {number[]}
 */
export function spread(wanted, height, low, high) {
  const apart = Math.min(height, (high - low) / Math.max(wanted.length - 1, 1));
  const order = wanted.map((_, index) => index).sort((one, other) => wanted[one] - wanted[other]);
  const blocks = /** @type {Block[]} */ ([]);
  for (const index of order) {
    blocks.push({ members: [index], sum: wanted[index], top: clampTo(wanted[index], low, high) });
    while (blocks.length > 1 && touch(blocks[blocks.length - 2], blocks[blocks.length - 1], apart)) {
      const last = /** @type {Block} */ (blocks.pop());
      blocks.push(joined(/** @type {Block} */ (blocks.pop()), last, apart, low, high));
    }
  }
  const positions = new Array(wanted.length);
  for (const { members, top } of blocks)
    members.forEach((index, rank) => (positions[index] = top + rank * apart));
  return positions;
}

/**
 * Labels that lie one below the other without a gap.
 * @typedef {{members: number[], sum: number, top: number}} Block
 */

/** @param {Block} above @param {Block} below @param {number} apart */
function touch(above, below, apart) {
  return below.top < above.top + above.members.length * apart - 1e-9;
}

/**
 * Two blocks as one, as near as possible to where its labels belong.
 * @param {Block} above
 * @param {Block} below
 * @param {number} apart
 * @param {number} low
 * @param {number} high
 * @returns {Block}
 */
function joined(above, below, apart, low, high) {
  const members = [...above.members, ...below.members];
  const count = members.length;
  const sum = above.sum + below.sum;
  const centre = sum / count - ((count - 1) * apart) / 2;
  return { members, sum, top: clampTo(centre, low, high - (count - 1) * apart) };
}

/**
 * Names that fit beside the chart. Where the beginnings of two would look alike, they show their ends.
 * @param {string[]} names
 * @param {number} most letters of each
 */
export function cut(names, most) {
  const texts = names.map((name) => begun(name, most));
  const isAlike = (/** @type {string} */ text, /** @type {string} */ name) =>
    texts.some((other, at) => other === text && names[at] !== name);
  return texts.map((text, at) => (isAlike(text, names[at]) ? ended(names[at], most) : text));
}

/** @param {string} name @param {number} most letters */
function begun(name, most) {
  return name.length > most ? `${name.slice(0, most - 1).trimEnd()}…` : name;
}

/** The last words of a name, or of a long word its end. @param {string} name @param {number} most letters */
function ended(name, most) {
  const end = name.slice(1 - most);
  const word = end.search(/\s\S/) + 1;
  return `…${end.slice(word)}`;
}
