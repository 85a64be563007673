// Comparison of a drawn gradient with the true one. It tolerates the inaccuracy of drawing by hand.

/**
 * A curve. x is in ascending order; y is NaN if undefined.
 * @typedef {{x: ArrayLike<number>, y: ArrayLike<number>}} Curve
 */
/** A sampled gradient. ``marks`` is 1 at a kink. @typedef {Curve & {marks: ArrayLike<number>}} Truth */
/**
 * An interval of x in which a drawing is wrong. ``peak``: the largest deviation, as a fraction of the panel's height.
 * @typedef {{from: number, to: number, peak: number}} Deviation
 */
/**
 * The result of comparing a drawing with the true gradient. ``right``: whether no drawn part is wrong; ``whole``:
 * whether enough of the range is drawn; ``share``: the fraction of the range that is drawn; ``deviations``: the wrong
 * parts, from left to right.
 * @typedef {{right: boolean, whole: boolean, share: number, deviations: Deviation[]}} Judgement
 */

const X_TOLERANCE = 0.05; // horizontal tolerance, as a fraction of the range of x
const Y_TOLERANCE = 0.1; // vertical tolerance, as a fraction of the panel's height: on a phone 8 px
const MAX_SLIP = 0.15; // largest deviation that counts as a slip of the hand, as a fraction of the panel's height
const MAX_SLIPS = 2; // more deviations count as intended, such as a peak at each jump
const MAX_SLIP_WIDTH = 0.05; // maximum width of all slips together, as a fraction of the range of x
const MIN_SHARE = 0.85; // fraction of the range of x that must be drawn

/**
 * Compare a drawn curve with the true gradient. Returns null if nothing is drawn, or no gradient is finite.
 * @param {Curve} drawn @param {Truth} truth @param {number} height height of the panel, in units of the gradient
 * @returns {Judgement|null}
 */
export function judge(drawn, truth, height) {
  const hand = listPoints(drawn);
  const curve = listPoints({
    x: truth.x,
    y: Array.from(truth.y, (y, i) => (truth.marks[i] === 1 ? NaN : y)),
  });
  if (!hand.length || !curve.length) return null;
  const width = curve[curve.length - 1].x - curve[0].x;
  const tolerance = { reach: X_TOLERANCE * width, height };
  const strayed = findDeviations(hand, measureBands(curve, hand, tolerance), tolerance);
  const missed = findDeviations(curve, measureBands(hand, curve, tolerance), tolerance);
  const deviations = joinOverlaps([...strayed, ...missed].sort((one, other) => one.from - other.from));
  const share = hand.length / drawn.x.length;
  return {
    right: areSlips(strayed, width) && areSlips(missed, width),
    whole: share >= MIN_SHARE,
    share,
    deviations,
  };
}

/** Return an x well inside a wrong part of a drawing, with few decimals. @param {Deviation} deviation */
export function pickX({ from, to }) {
  const [middle, quarter] = [(from + to) / 2, (to - from) / 4];
  for (let digits = 0; digits < 6; digits += 1) {
    const rounded = Number(middle.toFixed(digits)) + 0;
    if (Math.abs(rounded - middle) <= quarter) return rounded;
  }
  return middle;
}

/**
 * Return a curve's value at x, interpolated linearly. Beyond an end, it is the value at that end.
 * @param {Curve} curve @param {number} x
 */
export function interpolateAt(curve, x) {
  return makeInterpolator(curve)(x);
}

/**
 * Return a function that interpolates a curve linearly. It returns NaN if the curve has no finite point.
 * @param {Curve} curve @returns {(x: number) => number}
 */
export function makeInterpolator(curve) {
  const points = listPoints(curve);
  return (x) => {
    const right = points.findIndex((point) => point.x >= x);
    const [a, b] = [points.at(Math.max(right - 1, -1)), points.at(right)];
    if (!a || !b) return NaN;
    return right <= 0 || b.x === x ? b.y : a.y + ((x - a.x) / (b.x - a.x)) * (b.y - a.y);
  };
}

/** A point of a curve. @typedef {{x: number, y: number}} Point */

/** @param {Curve} curve @returns {Point[]} */
function listPoints({ x, y }) {
  return Array.from(x, (at, i) => ({ x: at, y: y[i] })).filter((point) => Number.isFinite(point.y));
}

/**
 * @param {Point[]} curve @param {Point[]} at points at which to measure; their y is ignored
 * @param {{reach: number}} far ``reach``: tolerance in x
 */
function measureBands(curve, at, { reach }) {
  let first = 0;
  return at.map(({ x }) => {
    while (first < curve.length && curve[first].x < x - reach) first += 1;
    let [low, high, last] = [Infinity, -Infinity, first];
    for (; last < curve.length && curve[last].x <= x + reach; last += 1) {
      low = Math.min(low, curve[last].y);
      high = Math.max(high, curve[last].y);
    }
    const around = last > first && curve[first].x <= x && curve[last - 1].x >= x;
    return around ? { low, high } : null;
  });
}

/**
 * Return the parts of a curve that leave the tolerated band of values.
 * @param {Point[]} points
 * @param {({low: number, high: number}|null)[]} bands the band at each point, or null if unknown
 * @param {{height: number}} far ``height``: height of the panel, to which deviations are relative
 */
function findDeviations(points, bands, { height }) {
  const deviations = /** @type {Deviation[]} */ ([]);
  let last = -1;
  points.forEach(({ x, y }, i) => {
    const band = bands[i];
    const peak = band ? Math.max(band.low - y, y - band.high) / height : 0;
    if (peak <= Y_TOLERANCE) return;
    const run = deviations[deviations.length - 1];
    if (run && last === i - 1) Object.assign(run, { to: x, peak: Math.max(run.peak, peak) });
    else deviations.push({ from: x, to: x, peak });
    last = i;
  });
  return deviations;
}

/** Return the wrong parts with those joined that overlap. @param {Deviation[]} sorted by their first x */
function joinOverlaps(sorted) {
  return sorted.reduce((/** @type {Deviation[]} */ joined, { from, to, peak }) => {
    const last = joined[joined.length - 1];
    if (!last || from > last.to) return [...joined, { from, to, peak }];
    Object.assign(last, { to: Math.max(last.to, to), peak: Math.max(last.peak, peak) });
    return joined;
  }, []);
}

/**
 * Return whether the wrong parts of a drawing are few and narrow enough to be slips of the hand.
 * @param {Deviation[]} deviations @param {number} width width of the visible range of x
 */
function areSlips(deviations, width) {
  const total = deviations.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    deviations.length <= MAX_SLIPS &&
    total <= MAX_SLIP_WIDTH * width &&
    deviations.every(({ peak }) => peak <= MAX_SLIP)
  );
}
