// Paths of small pictures: shares of the width and of the height in, text for SVG out.

/** A point, from the left and from below. @typedef {{x: number, y: number}} Point */
/** A bar that stands on the ground. @typedef {{from: number, to: number, height: number}} Bar */

const WHOLE = 1000; // units of a picture's width and height

/**
 * The share of the way between two numbers at which a number lies.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function share(value, low, high) {
  return (value - low) / (high - low);
}

/** @param {Bar} bar */
export function barPath({ from, to, height }) {
  return height ? `M${px(from)},${WHOLE}V${px(1 - height)}H${px(to)}V${WHOLE}Z` : "";
}

/** A line, with a gap where there is no number. @param {Point[]} points */
export function linePath(points) {
  let open = false;
  const parts = points.map(({ x, y }) => {
    const move = open ? "L" : "M";
    open = Number.isFinite(y);
    return open ? `${move}${px(x)},${px(1 - y)}` : "";
  });
  return parts.join("");
}

/** @param {number} share */
function px(share) {
  return Math.round(WHOLE * share);
}
