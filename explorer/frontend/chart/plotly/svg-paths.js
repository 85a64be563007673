// SVG paths of lines that Plotly has drawn, set to new points.

/** A curve in px. y is NaN where the line breaks. @typedef {{x: Float64Array, y: Float64Array}} Pixels */

/** The distance in px below which a difference is invisible. */
export const INVISIBLE_PX = 0.05;

/**
 * Format points as the ``d`` attribute of an SVG path, rounded to tenths of a px. Points within straight segments are
 * dropped, because browsers then draw much faster.
 * @param {Pixels} pixels
 */
export function formatPath({ x, y }) {
  let text = "";
  for (let i = 0; i < x.length; i += 1) {
    if (y[i] !== y[i]) continue;
    const pen = i && y[i - 1] === y[i - 1] ? "L" : "M";
    if (pen === "L") i = findStraightEnd(x, y, i - 1);
    text += `${pen}${roundToTenths(x[i])},${roundToTenths(y[i])}`;
  }
  return text;
}

/** Round a length in px to tenths, as in an SVG path. @param {number} px */
export function roundToTenths(px) {
  return Math.round(px * 10) / 10;
}

/**
 * Return the index of the last point on the line through two successive points.
 * @param {Float64Array} x @param {Float64Array} y @param {number} from index of the first point
 */
function findStraightEnd(x, y, from) {
  const [dx, dy] = [x[from + 1] - x[from], y[from + 1] - y[from]];
  const tolerance = INVISIBLE_PX * Math.hypot(dx, dy);
  let end = from + 1;
  while (tolerance && Math.abs((x[end + 1] - x[from]) * dy - (y[end + 1] - y[from]) * dx) <= tolerance)
    end += 1;
  return end;
}

/**
 * Replace the path of a line that Plotly has drawn. If Plotly has split the line into several paths at its breaks, the
 * first one gets the whole line.
 * @param {Element|undefined} trace @param {Pixels} pixels
 */
export function setPath(trace, pixels) {
  const [first, ...rest] = trace?.querySelectorAll(".js-line") ?? [];
  const text = formatPath(pixels);
  first?.setAttribute("d", text);
  trace?.querySelector(".js-fill")?.setAttribute("d", text && `${text}Z`);
  for (const path of rest) path.setAttribute("d", "");
}
