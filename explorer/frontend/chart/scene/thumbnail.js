// Thumbnails of backward rules' gradients, and of an op's curve.

import { shape } from "../../elements/svg.js";
import { KINK, sampleCurves } from "../../formula/curves.js";

/** @import { Op, Rule } from "../../formula/entry.js" */

const WIDTH = 64;
const HEIGHT = 36;
const POINTS = 65;

/**
 * Draw a small SVG of an op's curve or of rules' gradients, with a line at zero. Without values it is empty.
 * @param {{op: Op, rules: Rule[]}} curves ``rules``: none for the op's own curve
 * @param {import("../../formula/curves.js").Choice} settings
 * @param {[number, number]} [span] the range of y, so that several thumbnails can be compared; otherwise the curves' own
 */
export function drawThumbnail({ op, rules }, settings, span) {
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "thumbnail", "aria-hidden": "true" });
  const { x, y, marks, gradients } = sampleCurves({ op, rules }, settings, { points: POINTS });
  const sampled = rules.length ? rules.map(({ key }) => gradients[key]) : [y];
  const curves = sampled.flatMap((values) => (values ? [Array.from(values)] : []));
  if (!curves.length) return svg;
  const [low, high] = span ?? chooseSpan(curves.flat(), marks);
  const toY = (/** @type {number} */ at) => HEIGHT - 3 - ((at - low) / (high - low)) * (HEIGHT - 6);
  if (low <= 0 && high >= 0) svg.append(shape("path", { class: "zero", d: `M0,${toY(0)}H${WIDTH}` }));
  svg.append(...curves.map((values) => shape("path", { d: formatCurve(x, values, toY) })));
  return svg;
}

/**
 * Return the range of y in a thumbnail. It cuts off poles, but not finite values at kinks.
 * @param {number[]} y values of one or more curves @param {Int8Array} marks the kind of each x @returns {[number, number]}
 */
function chooseSpan(y, marks) {
  const peaks = y.filter((value, i) => marks[i % marks.length] === KINK && Number.isFinite(value));
  const ascending = y.filter(Number.isFinite).sort((one, other) => one - other);
  const getQuantile = (/** @type {number} */ share) =>
    ascending[Math.round(share * (ascending.length - 1))] ?? 0;
  const middle = getQuantile(0.95) - getQuantile(0.05);
  const low = Math.min(0, Math.max(getQuantile(0), getQuantile(0.05) - middle), ...peaks);
  const high = Math.max(0, Math.min(getQuantile(1), getQuantile(0.95) + middle), ...peaks);
  return high > low ? [low, high] : [-1, 1];
}

/** @param {ArrayLike<number>} x @param {ArrayLike<number>} y @param {(y: number) => number} height converts y to px */
function formatCurve(x, y, height) {
  const left = x[0];
  const width = x[x.length - 1] - left;
  let pen = "M";
  let text = "";
  for (let i = 0; i < x.length; i += 1) {
    const down = height(y[i]);
    if (Number.isFinite(down)) {
      text += `${pen}${(((x[i] - left) / width) * WIDTH).toFixed(1)},${Math.min(Math.max(down, -50), 90).toFixed(1)}`;
      pen = "L";
    } else pen = "M";
  }
  return text;
}
