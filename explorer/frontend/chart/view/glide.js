// Animation of curves from their last drawing to the current one.

/** @import { Pixels } from "../plotly/svg-paths.js" */

const GLIDE_MS = 180;

/**
 * Animate curves: call ``draw`` now and in every frame, then ``done``.
 * @param {Pixels[]} from the initial curves; a curve without one does not move @param {Pixels[]} to the final curves
 * @param {(pixels: Pixels[]) => void} draw @param {() => void} done
 * @returns {() => void} a function that cancels the animation
 */
export function glide(from, to, draw, done) {
  const starts = to.map((curve, index) => (from[index] ? sampleAt(from[index], curve) : curve));
  const begin = performance.now();
  let frame = 0;
  /** @param {number} now time in ms */
  function drawFrame(now) {
    const share = Math.min(Math.max((now - begin) / GLIDE_MS, 0), 1);
    const eased = share * share * (3 - 2 * share);
    draw(share === 1 ? to : to.map((curve, index) => blendCurves(starts[index], curve, eased)));
    if (share === 1) return done();
    frame = requestAnimationFrame(drawFrame);
  }
  drawFrame(begin);
  return () => cancelAnimationFrame(frame);
}

/** @param {Pixels} curve @param {Pixels} other @returns {Pixels} */
function sampleAt(curve, other) {
  const y = new Float64Array(other.x.length).fill(NaN);
  for (let i = 0, at = 0; i < y.length; i += 1) {
    while (at < curve.x.length - 2 && curve.x[at + 1] < other.x[i]) at += 1;
    const width = curve.x[at + 1] - curve.x[at];
    const share = width > 0 ? Math.min(Math.max((other.x[i] - curve.x[at]) / width, 0), 1) : 1;
    const value = curve.y[at] + share * (curve.y[at + 1] - curve.y[at]);
    y[i] = Number.isNaN(value) ? (curve.y[share < 0.5 ? at : at + 1] ?? NaN) : value;
  }
  return { x: other.x, y };
}

/**
 * @param {Pixels} from @param {Pixels} to @param {number} share fraction of the way from ``from`` to ``to``
 * @returns {Pixels} the line breaks are those of ``to``
 */
function blendCurves(from, to, share) {
  const y = to.y.map((end, i) => (Number.isNaN(from.y[i]) ? end : from.y[i] + share * (end - from.y[i])));
  return { x: to.x, y };
}
