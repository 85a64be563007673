// Curves that glide from the last drawing to the present one.

/** @import { Pixels } from "../plotly/svg-paths.js" */

const GLIDE_MS = 180;

/**
 * Call ``draw`` in every frame with what lies between two pictures, then ``done``; at once where motion is
 * reduced.
 * @param {Pixels[]} from a curve that is new starts where it ends
 * @param {Pixels[]} to
 * @param {(pixels: Pixels[]) => void} draw
 * @param {() => void} done
 * @returns {() => void} what ends it before its time
 */
export function glide(from, to, draw, done) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    done();
    return () => {};
  }
  const starts = to.map((curve, index) => (from[index] ? resampled(from[index], curve) : curve));
  const begin = performance.now();
  let frame = requestAnimationFrame(next);
  /** @param {number} now */
  function next(now) {
    const share = Math.min(Math.max((now - begin) / GLIDE_MS, 0), 1);
    const eased = share * share * (3 - 2 * share);
    draw(share === 1 ? to : to.map((curve, index) => between(starts[index], curve, eased)));
    if (share === 1) return done();
    frame = requestAnimationFrame(next);
  }
  draw(starts);
  return () => cancelAnimationFrame(frame);
}

/**
 * A curve at the x of another one.
 * @param {Pixels} curve
 * @param {Pixels} other
 * @returns {Pixels}
 */
function resampled(curve, other) {
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
 * @param {Pixels} from
 * @param {Pixels} to
 * @param {number} share
 * @returns {Pixels} with the breaks of ``to``
 */
function between(from, to, share) {
  const y = to.y.map((end, i) => (Number.isNaN(from.y[i]) ? end : from.y[i] + share * (end - from.y[i])));
  return { x: to.x, y };
}
