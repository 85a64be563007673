// Positions of labels next to the ends of curves, without overlap.

import { clampTo } from "../../formula/numbers.js";

const [LINE_LETTERS, MAX_WRAPPED] = [17, 3];
const LINE = /^.{1,16}[ -]/; // the first line of a name that is too long for one

/**
 * Place labels below each other, at least ``height`` px apart and as near as possible to their wanted positions. If
 * they do not fit between ``low`` and ``high``, they are evenly spaced and closer together. All positions are in px
 * from the top.
 * @param {number[]} wanted @param {number} height @param {number} low the minimum position
 * @param {number} high the maximum position @returns {number[]} positions in the order of ``wanted``
 */
export function spread(wanted, height, low, high) {
  const gap = Math.min(height, (high - low) / Math.max(wanted.length - 1, 1));
  const order = wanted.map((_, index) => index).sort((one, other) => wanted[one] - wanted[other]);
  const blocks = /** @type {Block[]} */ ([]);
  for (const index of order) {
    blocks.push({ members: [index], sum: wanted[index], top: clampTo(wanted[index], low, high) });
    const areTouching = (/** @type {Block} */ above, /** @type {Block} */ below) =>
      below.top < above.top + above.members.length * gap - 1e-9;
    while (blocks.length > 1 && areTouching(blocks[blocks.length - 2], blocks[blocks.length - 1])) {
      const last = /** @type {Block} */ (blocks.pop());
      blocks.push(mergeBlocks(/** @type {Block} */ (blocks.pop()), last, gap, low, high));
    }
  }
  const positions = new Array(wanted.length);
  for (const { members, top } of blocks)
    members.forEach((index, rank) => (positions[index] = top + rank * gap));
  return positions;
}

/**
 * A group of labels that touch each other. ``members``: indices; ``sum``: sum of the wanted positions; ``top``:
 * position of the first.
 * @typedef {{members: number[], sum: number, top: number}} Block
 */

/**
 * Merge two groups of labels, as near as possible to their wanted positions.
 * @param {Block} above @param {Block} below @param {number} gap distance from one label to the next @param {number} low
 * @param {number} high @returns {Block}
 */
function mergeBlocks(above, below, gap, low, high) {
  const members = [...above.members, ...below.members];
  const count = members.length;
  const sum = above.sum + below.sum;
  const centre = sum / count - ((count - 1) * gap) / 2;
  return { members, sum, top: clampTo(centre, low, high - (count - 1) * gap) };
}

/**
 * Shorten names to a maximum number of characters, at the end or, if different names would become equal, at the start.
 * @param {string[]} names @param {number} most the maximum
 */
export function cut(names, most) {
  const texts = names.map((name) => (name.length > most ? `${name.slice(0, most - 1).trimEnd()}…` : name));
  const isAlike = (/** @type {string} */ text, /** @type {string} */ name) =>
    texts.some((other, at) => other === text && names[at] !== name);
  return texts.map((text, at) => (isAlike(text, names[at]) ? truncateStart(names[at], most) : text));
}

/**
 * Split names into lines below a value, for a narrow chart. Returns null if there are many, or one has a long word.
 * @param {string[]} names
 */
export function wrapNames(names) {
  const texts = names.map((name) => (name.length > LINE_LETTERS ? name.replace(LINE, "$&\n") : name));
  const fits = (/** @type {string} */ text) => text.split("\n").every(({ length }) => length <= LINE_LETTERS);
  return names.length <= MAX_WRAPPED && texts.every(fits) ? texts : null;
}

/**
 * Shorten a name at its start, if possible before a word.
 * @param {string} name @param {number} most the maximum number of characters
 */
function truncateStart(name, most) {
  const end = name.slice(1 - most);
  const word = end.search(/\s\S/) + 1;
  return `…${end.slice(word)}`;
}
