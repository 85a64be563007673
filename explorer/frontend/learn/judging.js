// Is a drawn gradient the true one? Judged by its shape and its extremes, as exactly as a hand draws.

/**
 * A curve: x ascending, y as many; NaN where nothing is.
 * @typedef {{x: ArrayLike<number>, y: ArrayLike<number>}} Curve
 */
/** A sampled gradient; ``marks`` is 1 at a kink. @typedef {Curve & {marks: ArrayLike<number>}} Truth */
/**
 * A stretch where a drawing leaves the gradient: from the first to the
 * last x, and how far at most, in sizes of the gradient.
 * @typedef {{from: number, to: number, peak: number}} Excursion
 */
/**
 * ``right``: no part that was drawn is wrong; ``whole``: enough of the range was drawn; ``share`` of it;
 * ``mean`` distance of what was drawn; ``excursions`` from the left to the right.
 * @typedef {{right: boolean, whole: boolean, share: number, mean: number, excursions: Excursion[]}} Judgement
 */

const REACH = 0.05; // of the range: as exactly as a hand finds an x
const NEAR = 0.2; // of the size of the gradient: as exactly as a hand finds a value
const SLIP = 0.4; // the same, where the hand slips
const SLIPS = 2; // more of them are a shape of their own, such as a peak at each jump
const SLIPPED = 0.05; // of the range in all
const WHOLE = 0.85; // of the range

/**
 * Compare a drawing with a sampled gradient; null where nothing was drawn.
 * @param {Curve} drawn
 * @param {Truth} truth
 * @returns {Judgement|null}
 */
export function judge(drawn, truth) {
  const hand = pointsOf(drawn);
  const curve = pointsOf({ x: truth.x, y: Array.from(truth.y, (y, i) => (truth.marks[i] === 1 ? NaN : y)) });
  if (!hand.length || !curve.length) return null;
  const width = curve[curve.length - 1].x - curve[0].x;
  const size = Math.max(1, ...curve.map(({ y }) => Math.abs(y)));
  const far = { reach: REACH * width, size };
  const strayed = excursionsOf(hand, bandsOf(curve, hand, far), far);
  const missed = excursionsOf(curve, bandsOf(hand, curve, far), far);
  const excursions = [...strayed, ...missed].sort((one, other) => one.from - other.from);
  const share = hand.length / drawn.x.length;
  return {
    right: slips(strayed, width) && slips(missed, width),
    whole: share >= WHOLE,
    share,
    mean: meanDistance(hand, curve),
    excursions,
  };
}

/**
 * The x of an excursion by which it is named: as round as it can be, well inside.
 * @param {Excursion} excursion
 */
export function nameOf({ from, to }) {
  const [middle, quarter] = [(from + to) / 2, (to - from) / 4];
  for (let digits = 0; digits < 6; digits += 1) {
    const rounded = Number(middle.toFixed(digits)) + 0;
    if (Math.abs(rounded - middle) <= quarter) return rounded;
  }
  return middle;
}

/**
 * A curve's value at an x, between its neighbours, or that of its end.
 * @param {Curve} curve
 * @param {number} x
 */
export function valueAt(curve, x) {
  return valuesOf(curve)(x);
}

/**
 * The same for many x; NaN where the curve has no point.
 * @param {Curve} curve
 * @returns {(x: number) => number}
 */
export function valuesOf(curve) {
  const points = pointsOf(curve);
  return (x) => {
    const right = points.findIndex((point) => point.x >= x);
    const [a, b] = [points.at(Math.max(right - 1, -1)), points.at(right)];
    if (!a || !b) return NaN;
    return right <= 0 || b.x === x ? b.y : a.y + ((x - a.x) / (b.x - a.x)) * (b.y - a.y);
  };
}

/** @typedef {{x: number, y: number}} Point */

/** The points of a curve that have a value. @param {Curve} curve @returns {Point[]} */
function pointsOf({ x, y }) {
  return Array.from(x, (at, i) => ({ x: at, y: y[i] })).filter((point) => Number.isFinite(point.y));
}

/**
 * For each of some x the lowest and highest value of a curve within reach; null where it has none on
 * one of the sides.
 * @param {Point[]} curve
 * @param {Point[]} at
 * @param {{reach: number}} far
 */
function bandsOf(curve, at, { reach }) {
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
 * The runs of points that lie beside their bands.
 * @param {Point[]} points
 * @param {({low: number, high: number}|null)[]} bands
 * @param {{size: number}} far
 */
function excursionsOf(points, bands, { size }) {
  const excursions = /** @type {Excursion[]} */ ([]);
  let last = -1;
  points.forEach(({ x, y }, i) => {
    const band = bands[i];
    const peak = band ? Math.max(band.low - y, y - band.high) / size : 0;
    if (peak <= NEAR) return;
    const run = excursions[excursions.length - 1];
    if (run && last === i - 1) Object.assign(run, { to: x, peak: Math.max(run.peak, peak) });
    else excursions.push({ from: x, to: x, peak });
    last = i;
  });
  return excursions;
}

/**
 * Whether excursions are no more than slips of the hand.
 * @param {Excursion[]} excursions
 * @param {number} width of the range
 */
function slips(excursions, width) {
  const whole = excursions.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    excursions.length <= SLIPS && whole <= SLIPPED * width && excursions.every(({ peak }) => peak <= SLIP)
  );
}

/** @param {Point[]} hand @param {Point[]} curve */
function meanDistance(hand, curve) {
  let i = 0;
  const gaps = hand.map(({ x, y }) => {
    while (i < curve.length - 1 && Math.abs(curve[i + 1].x - x) <= Math.abs(curve[i].x - x)) i += 1;
    return Math.abs(y - curve[i].y);
  });
  return gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
}
