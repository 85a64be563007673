// The paths of lines that Plotly has drawn, set to other points.

/** A curve in px; y is NaN where the line breaks. @typedef {{x: Float64Array, y: Float64Array}} Pixels */

/** Px that nobody sees. */
export const UNSEEN = 0.05;

/**
 * The text of a path in tenths of px. Of points on one straight line only the ends are in it, which the
 * browser draws in a fraction of the time.
 * @param {Pixels} pixels
 */
function pathText({ x, y }) {
  let text = "";
  for (let i = 0; i < x.length; i += 1) {
    if (y[i] !== y[i]) continue;
    const pen = i && y[i - 1] === y[i - 1] ? "L" : "M";
    if (pen === "L") i = straightEnd(x, y, i - 1);
    text += `${pen}${tenths(x[i])},${tenths(y[i])}`;
  }
  return text;
}

/** A length in px as it stands in a path. @param {number} px */
export function tenths(px) {
  return Math.round(px * 10) / 10;
}

/**
 * How far points lie on the straight line that leads from one to the next.
 * @param {Float64Array} x
 * @param {Float64Array} y
 * @param {number} from
 */
function straightEnd(x, y, from) {
  const [dx, dy] = [x[from + 1] - x[from], y[from + 1] - y[from]];
  const most = UNSEEN * Math.hypot(dx, dy);
  let end = from + 1;
  while (most && Math.abs((x[end + 1] - x[from]) * dy - (y[end + 1] - y[from]) * dx) <= most) end += 1;
  return end;
}

/**
 * Set the path of a line that Plotly has drawn. It has one
 * for each part of the line: the first takes all of it.
 * @param {Element|undefined} trace
 * @param {Pixels} pixels
 */
export function setPath(trace, pixels) {
  const [first, ...rest] = trace?.querySelectorAll(".js-line") ?? [];
  const text = pathText(pixels);
  first?.setAttribute("d", text);
  trace?.querySelector(".js-fill")?.setAttribute("d", text && `${text}Z`);
  for (const path of rest) path.setAttribute("d", "");
}
