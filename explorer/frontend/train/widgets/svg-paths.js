// SVG paths from coordinates between 0 and 1.

import { h } from "../../elements/render.js";

/** A point, x from the left and y from the bottom. @typedef {{x: number, y: number}} Point */
/** A bar of a chart, from ``base`` to ``height``. @typedef {{from: number, to: number, base: number, height: number}} Bar */

const SIZE = 1000; // width and height of a drawing in its own units

/**
 * Return the position of a number between two others: 0 at ``low``, 1 at ``high``, less or more beyond them.
 * @param {number} value @param {number} low @param {number} high
 */
export function share(value, low, high) {
  return (value - low) / (high - low);
}

/**
 * Draw paths over the whole area of their element.
 * @param {Record<string, string>} paths their ``d`` by CSS class
 * @param {...import("../../elements/render.js").Child} others drawn over them
 */
export function drawPaths(paths, ...others) {
  const frame = { viewBox: `0 0 ${SIZE} ${SIZE}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  const lines = Object.entries(paths).map(([name, d]) => h("path", { class: name, d }));
  return h("svg", frame, lines, others);
}

/** Format a bar as an SVG path. @param {Bar} bar */
export function makeBarPath({ from, to, base, height }) {
  const bottom = toUnits(1 - base);
  return height > base ? `M${toUnits(from)},${bottom}V${toUnits(1 - height)}H${toUnits(to)}V${bottom}Z` : "";
}

/** Format a line as an SVG path, with gaps at points whose y is not finite. @param {Point[]} points */
export function makeLinePath(points) {
  let open = false;
  const parts = points.map(({ x, y }) => {
    const move = open ? "L" : "M";
    open = Number.isFinite(y);
    return open ? `${move}${toUnits(x)},${toUnits(1 - y)}` : "";
  });
  return parts.join("");
}

/** @param {number} share */
function toUnits(share) {
  return Math.round(SIZE * share);
}
