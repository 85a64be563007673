/**
 * Whether an op has a mean under noise, and how far from x it has to be summed: by how it grows. As in
 * explorer/lens/means.py.
 */

/** @import { Curve } from "./parts.js" */
/** @import { Noise } from "./lens.js" */

const FAR = [16, 32, 64, 128, 256];
const FARTHEST = [2 ** 36, 2 ** 37, 2 ** 38, 2 ** 39];
const BESIDE = Array.from({ length: 17 }, (_, i) => 1 + 0.37 * (i / 16) ** 1.3); // so that no zero alone is met
const GROWING = 1.5;
const FASTEST_POWER = 0.9;

const { abs, log, log2, max } = Math;

/**
 * ``reason``: "undefined" where it has no value at x that the noise reaches, "grows" where its mean is infinite,
 * "slow" where that is finite but too far out, "steep" where it may be either, "" where it can be summed.
 * @param {Curve} y
 * @param {Noise} noise
 * @param {number} width
 * @returns {{reason: string, reach: number}} ``reach`` in x
 */
export function growthOf(y, { tail, reach: farthest, mostRate }, width) {
  const reach = farthest * width;
  if (tail === "none") return { reason: "", reach };
  const sides = [-1, 1].map((way) => sizesOf(y, way, FAR));
  if (sides.flat().some(Number.isNaN)) return { reason: "undefined", reach };
  if (tail === "power") {
    const power = max(...[-1, 1].map((way) => powerOf(sizesOf(y, way, FARTHEST))));
    return { reason: power > FASTEST_POWER ? "grows" : "", reach: 100 * Math.sqrt(width) };
  }
  const rate = max(0, ...sides.map(rateOf)) * width;
  if (tail === "normal") return { reason: rate === Infinity ? "steep" : "", reach: reach + rate * width };
  if (rate >= 1 - 1e-6) return { reason: "grows", reach };
  return { reason: rate > mostRate ? "slow" : "", reach: reach / (1 - rate) };
}

/** The largest size of the op around each far x on one side. @param {Curve} y @param {number} way @param {number[]} far */
function sizesOf(y, way, far) {
  const values = y(Float64Array.from(far.flatMap((x) => BESIDE.map((factor) => way * x * factor))));
  return far.map((_, i) => max(...values.subarray(i * BESIDE.length, (i + 1) * BESIDE.length).map(abs)));
}

/** The r with which sizes grow like exp(r · x); infinite for faster growth. @param {number[]} sizes */
function rateOf(sizes) {
  const known = sizes.flatMap((size, i) =>
    size < Infinity ? [{ x: FAR[i] * BESIDE[BESIDE.length - 1], size: log(max(size, 1)) }] : [],
  );
  if (known.length < 3) return Infinity;
  const [first, second, third] = known.slice(-3);
  const before = (second.size - first.size) / (second.x - first.x);
  const last = (third.size - second.size) / (third.x - second.x);
  return last > GROWING * before && known.length < sizes.length ? Infinity : last;
}

/** The p with which sizes grow like |x|**p. @param {number[]} sizes */
function powerOf(sizes) {
  if (!sizes.every(Number.isFinite)) return Infinity;
  return log2(max(sizes[sizes.length - 1], 1) / max(sizes[0], 1)) / 3;
}
