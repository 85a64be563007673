// Positions of labels next to the ends of curves, without overlap.

import { clampTo } from "../../formula/numbers.js";

/**
 * Place labels below each other without overlap, as near as possible to their wanted positions. If they do not fit
 * between ``low`` and ``high``, all are closer together. All positions are in px from the top.
 * @param {number[]} wanted positions of the labels' middles @param {number[]} heights of the labels
 * @param {number} low the minimum position of an edge @param {number} high the maximum position of an edge
 * @returns {number[]} positions of the middles, in the order of ``wanted``
 */
export function spread(wanted, heights, low, high) {
  const scale = Math.min(1, (high - low) / heights.reduce((sum, each) => sum + each, 0));
  const order = wanted.map((_, at) => at).sort((one, other) => wanted[one] - wanted[other]);
  const offsets = new Array(wanted.length); // of the labels' middles, if all labels touch
  const blocks = /** @type {{sum: number, members: number[]}[]} */ ([]); // labels that touch, and their wanted starts
  let total = 0;
  for (const at of order) {
    offsets[at] = total + (scale * heights[at]) / 2;
    total += scale * heights[at];
    let block = { sum: wanted[at] - offsets[at], members: [at] };
    for (let last = blocks.pop(); last; last = blocks.pop()) {
      if (last.sum / last.members.length < block.sum / block.members.length) {
        blocks.push(last);
        break;
      }
      block = { sum: last.sum + block.sum, members: [...last.members, ...block.members] };
    }
    blocks.push(block);
  }
  for (const { sum, members } of blocks)
    for (const at of members) offsets[at] += clampTo(sum / members.length, low, high - total);
  return offsets;
}

/**
 * Return what follows the value in the label of a narrow chart: a blank or a line break, and the name in lines. A word
 * may be longer than a line.
 * @param {string} name @param {number} taken number of characters of a value and a blank
 * @param {number} most maximum number of characters of a line
 */
export function wrapName(name, taken, most) {
  const lines = [" "];
  let used = taken; // number of characters in the last line
  for (const piece of name.split(/(?<=[ -])/)) {
    if (used + piece.trimEnd().length > most) {
      lines.push("");
      used = 0;
    }
    lines[lines.length - 1] += piece;
    used += piece.length;
  }
  return lines.map((line) => line.trimEnd()).join("\n");
}
