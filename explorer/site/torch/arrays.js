/**
 * Arrays for Python in the browser: float64 numbers, of which those of a shorter dtype hold only what that
 * dtype can. Conditions are 0 and 1. Shapes are Python's business; here an array is flat.
 *
 * @typedef {number|Float64Array} Value
 */

import { above, below } from "../../frontend/formula/floats.js";
import { FUNCTIONS, OPERATORS, toThe } from "../../frontend/formula/functions.js";

const [SINGLE, HALF, BRAIN] = [1, 2, 3]; // the codes of the shorter dtypes
const LARGEST_HALF = 65504;
const single = new Float32Array(1);
const bits = new Int32Array(single.buffer);

/** Beside the functions of the formula language. @type {Record<string, import("../../frontend/formula/functions.js").Scalar>} */
const OTHERS = {
  isfinite: (a) => Number(Number.isFinite(a)),
  isnan: (a) => Number(Number.isNaN(a)),
  neg: (a) => -a,
  not: (a) => 1 - a,
  true: (a) => Number(a !== 0),
  to: (a) => a,
};

/**
 * The nearest number that a dtype has; torch computes a half in float32 first.
 * @param {number} code of the dtype
 * @param {number} value
 */
export function rounded(code, value) {
  single[0] = value;
  const short = single[0];
  if (code === SINGLE || !Number.isFinite(short) || short === 0) return short;
  if (code === HALF) return half(short);
  bits[0] += 0x7fff + ((bits[0] >> 16) & 1);
  bits[0] &= 0xffff0000;
  return single[0];
}

/** @param {number} value of float32, in ``bits`` as well */
function half(value) {
  const exponent = Math.max(((bits[0] >> 23) & 255) - 127, -14);
  const step = 2 ** (exponent - 10);
  const near = FUNCTIONS.round(value / step) * step;
  return Math.abs(near) > LARGEST_HALF ? Math.sign(near) * Infinity : near;
}

/** Each number as a dtype has it, in place. @param {Float64Array} values @param {number} code */
function fit(values, code) {
  if (code === SINGLE) for (let i = 0; i < values.length; i += 1) values[i] = Math.fround(values[i]);
  else if (code) for (let i = 0; i < values.length; i += 1) values[i] = rounded(code, values[i]);
  return values;
}

/** Loops of their own, for most of the time goes there. @type {Record<string, (a: Float64Array, b: Float64Array, out: Float64Array) => void>} */
const LOOPS = {
  "+": (a, b, out) => {
    for (let i = 0; i < out.length; i += 1) out[i] = a[i] + b[i];
  },
  "-": (a, b, out) => {
    for (let i = 0; i < out.length; i += 1) out[i] = a[i] - b[i];
  },
  "*": (a, b, out) => {
    for (let i = 0; i < out.length; i += 1) out[i] = a[i] * b[i];
  },
  "/": (a, b, out) => {
    for (let i = 0; i < out.length; i += 1) out[i] = a[i] / b[i];
  },
};

/**
 * A function of numbers, by its name, as one of arrays of one length and of numbers.
 * @param {string} name
 * @returns {(code: number, ...values: Value[]) => Float64Array}
 */
export function operation(name) {
  const [apply, loop] = [OTHERS[name] ?? FUNCTIONS[name] ?? OPERATORS[name], LOOPS[name]];
  if (loop) return (code, a, b) => fit(looped(loop, a, b), code);
  if (name !== "**") return (code, ...values) => fit(mapped(apply, values), code);
  return (code, a, b) => {
    if (b === 2) return fit(looped(LOOPS["*"], a, a), code);
    return fit(typeof b === "number" ? mapped(toThe(b), [a]) : mapped(apply, [a, b]), code);
  };
}

/** @param {(a: Float64Array, b: Float64Array, out: Float64Array) => void} loop @param {Value} a @param {Value} b */
function looped(loop, a, b) {
  const length = typeof a === "number" ? /** @type {Float64Array} */ (b).length : a.length;
  const out = new Float64Array(length);
  loop(filled(a, length), filled(b, length), out);
  return out;
}

/** @param {import("../../frontend/formula/functions.js").Scalar} apply @param {Value[]} values */
function mapped(apply, values) {
  const { length } = /** @type {Float64Array} */ (values.find((value) => typeof value !== "number"));
  const [a, b, c] = values;
  const out = new Float64Array(length);
  if (values.length === 1) {
    const only = /** @type {Float64Array} */ (a);
    for (let i = 0; i < length; i += 1) out[i] = apply(only[i]);
  } else if (values.length === 2 && typeof b === "number") {
    const left = /** @type {Float64Array} */ (a);
    for (let i = 0; i < length; i += 1) out[i] = apply(left[i], b);
  } else if (values.length === 2 && typeof a === "number") {
    const right = /** @type {Float64Array} */ (b);
    for (let i = 0; i < length; i += 1) out[i] = apply(a, right[i]);
  } else {
    const [one, two, three] = [a, b, c ?? 0].map((value) => filled(value, length));
    for (let i = 0; i < length; i += 1) out[i] = apply(one[i], two[i], three[i]);
  }
  return out;
}

/** @param {Value} value @param {number} length */
function filled(value, length) {
  return typeof value === "number" ? full(length, value) : value;
}

/** @param {number} length @param {number} value */
export const full = (length, value) => new Float64Array(length).fill(value);

/** @param {...number} values */
export const listed = (...values) => Float64Array.from(values);

/** @param {number} start @param {number} step @param {number} length */
export const stepped = (start, step, length) =>
  Float64Array.from({ length }, (_, place) => start + place * step);

/** Whole numbers for ``strided``: where it starts, then how many there are and how far apart, by dimension. @param {...number} values */
export const view = (...values) => Int32Array.from(values);

/** @param {Int32Array} layout @param {(at: number, step: number, count: number) => void} run for each row of the last dimension */
function eachRow(layout, run) {
  const rank = (layout.length - 1) / 2;
  if (!rank) return run(layout[0], 0, 1);
  const [count, step] = [layout[rank], layout[2 * rank]];
  if (rank === 1) return run(layout[0], step, count);
  const [rows, apart] = [layout[rank - 1], layout[2 * rank - 1]];
  /** @param {number} level @param {number} at */
  const walk = (level, at) => {
    if (level < rank - 2)
      for (let i = 0; i < layout[level + 1]; i += 1) walk(level + 1, at + i * layout[rank + level + 1]);
    else for (let i = 0; i < rows; i += 1) run(at + i * apart, step, count);
  };
  return walk(0, layout[0]);
}

/**
 * The numbers that a layout names, one after the other.
 * @param {Float64Array} a
 * @param {Int32Array} layout
 * @param {number} length
 */
export function strided(a, layout, length) {
  const out = new Float64Array(length);
  let to = 0;
  if (length)
    eachRow(layout, (at, step, count) => {
      if (step === 0) out.fill(a[at], to, to + count);
      else for (let i = 0; i < count; i += 1) out[to + i] = a[at + i * step];
      to += count;
    });
  return out;
}

/** Put numbers where a layout names them. @param {Float64Array} a @param {Int32Array} layout @param {Value} values */
export function put(a, layout, values) {
  let from = 0;
  eachRow(layout, (at, step, count) => {
    for (let i = 0; i < count; i += 1, from += 1)
      a[at + i * step] = typeof values === "number" ? values : values[from];
  });
}

/** Put numbers at some places. @param {Float64Array} a @param {Float64Array} places @param {Value} values */
export function putAt(a, places, values) {
  places.forEach((place, i) => (a[place] = typeof values === "number" ? values : values[i]));
}

/** Places of a row, from its end where they are negative. @param {Float64Array} places @param {number} length */
export function within(places, length) {
  return places.map((place) => {
    if (!(place >= -length && place < length)) throw new RangeError(`place ${place} of ${length}`);
    return place < 0 ? place + length : place;
  });
}

/** @type {Record<string, (a: Float64Array, at: number, length: number, step: number) => number>} */
const REDUCTIONS = {
  sum: (a, at, length, step) => summed(a, at, length, step),
  all: (a, at, length, step) => Number(placed(a, at, length, step, (now) => now === 0) < 0),
  any: (a, at, length, step) => Number(placed(a, at, length, step, (now) => now !== 0) >= 0),
  amax: (a, at, length, step) => a[at + extreme(a, at, length, step, (now, best) => now > best) * step],
  amin: (a, at, length, step) => a[at + extreme(a, at, length, step, (now, best) => now < best) * step],
  argmax: (a, at, length, step) => extreme(a, at, length, step, (now, best) => now > best),
  argmin: (a, at, length, step) => extreme(a, at, length, step, (now, best) => now < best),
};

/** Halves are added up each for itself, so that rounding does not pile up. @param {Float64Array} a @param {number} at @param {number} length @param {number} step @returns {number} */
function summed(a, at, length, step) {
  if (length > 64) {
    const half = length >> 1;
    return summed(a, at, half, step) + summed(a, at + half * step, length - half, step);
  }
  let sum = 0;
  for (let i = 0; i < length; i += 1) sum += a[at + i * step];
  return sum;
}

/** The first place where something holds, or −1. @param {Float64Array} a @param {number} at @param {number} length @param {number} step @param {(now: number) => boolean} holds */
function placed(a, at, length, step, holds) {
  for (let i = 0; i < length; i += 1) if (holds(a[at + i * step])) return i;
  return -1;
}

/** The place of the first one that no other beats, or of the first NaN. @param {Float64Array} a @param {number} at @param {number} length @param {number} step @param {(now: number, best: number) => boolean} beats */
function extreme(a, at, length, step, beats) {
  let best = 0;
  for (let i = 0; i < length; i += 1) {
    const now = a[at + i * step];
    if (Number.isNaN(now)) return i;
    if (beats(now, a[at + best * step])) best = i;
  }
  return best;
}

/**
 * Each row along one dimension to one number.
 * @param {string} name
 * @param {number} code of the dtype of the result
 * @param {Float64Array} a
 * @param {number} outer how many there are before that dimension
 * @param {number} length along it
 * @param {number} inner how many behind it
 */
export function reduced(name, code, a, outer, length, inner) {
  const reduce = REDUCTIONS[name];
  const out = new Float64Array(outer * inner);
  for (let o = 0; o < outer; o += 1)
    for (let i = 0; i < inner; i += 1) out[o * inner + i] = reduce(a, o * length * inner + i, length, inner);
  return fit(out, code);
}

/** Sums up to each number. @param {number} code @param {Float64Array} a */
export function cumulated(code, a) {
  let sum = 0;
  return fit(
    a.map((value) => (sum += value)),
    code,
  );
}

/** The largest up to each number. @param {Float64Array} a */
export function highest(a) {
  let most = -Infinity;
  return a.map((value) => (most = Math.max(most, value)));
}

/** Before which of ascending numbers each of some would stand, NaN last. @param {Float64Array} a @param {Float64Array} wanted */
export function placesOf(a, wanted) {
  return wanted.map((value) => {
    let [low, high] = [0, a.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const less = a[middle] < value || (Number.isNaN(value) && !Number.isNaN(a[middle]));
      if (less) low = middle + 1;
      else high = middle;
    }
    return low;
  });
}

/** The places of ascending numbers, of equal ones in their order, NaN last. @param {Float64Array} a */
export function sorted(a) {
  const places = Float64Array.from(a, (_, place) => place);
  return places.sort((one, two) => {
    const [left, right] = [a[one], a[two]];
    if (left < right) return -1;
    if (left > right) return 1;
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right)) || one - two;
  });
}

/** The places of what is not 0. @param {Float64Array} a */
export function nonzero(a) {
  const out = new Float64Array(a.length);
  let count = 0;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== 0) out[count++] = i;
  return out.slice(0, count);
}

/**
 * The parts at some places along one dimension.
 * @param {Float64Array} a
 * @param {Float64Array} places from the end where they are negative
 * @param {number} outer
 * @param {number} length
 * @param {number} inner
 */
export function picked(a, places, outer, length, inner) {
  const out = new Float64Array(outer * places.length * inner);
  let to = 0;
  for (let o = 0; o < outer; o += 1)
    for (const place of places) {
      const from = (o * length + (place < 0 ? place + length : place)) * inner;
      if (inner === 1) out[to] = a[from];
      else out.set(a.subarray(from, from + inner), to);
      to += inner;
    }
  return out;
}

/** Of each row of so many numbers those at its own places. @param {Float64Array} a @param {Float64Array} places @param {number} length @param {number} count places a row */
export function gathered(a, places, length, count) {
  return places.map((place, i) => a[Math.floor(i / count) * length + place]);
}

/** Arrays behind each other along a dimension. @param {number} outer @param {...Float64Array} parts */
export function joined(outer, ...parts) {
  const out = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let to = 0;
  for (let o = 0; o < outer; o += 1)
    for (const part of parts) {
      const size = part.length / outer;
      out.set(part.subarray(o * size, (o + 1) * size), to);
      to += size;
    }
  return out;
}

/** Numbers in the place of NaN and infinities. @param {Float64Array} a @param {number} nan @param {number} up @param {number} down */
export function replaced(a, nan, up, down) {
  const out = new Float64Array(a.length);
  for (let i = 0; i < a.length; i += 1) {
    const now = a[i];
    if (now - now === 0) out[i] = now;
    else if (Number.isNaN(now)) out[i] = nan;
    else out[i] = now > 0 ? up : down;
  }
  return out;
}

/** The next numbers above or below, of float64 or float32. @param {number} code @param {Float64Array} a @param {boolean} upward */
export function beside(code, a, upward) {
  const step = upward ? above : below;
  if (code !== SINGLE) return a.map(step);
  return a.map((value) => (upward ? aboveSingle(value) : -aboveSingle(-value)));
}

/** @param {number} value */
function aboveSingle(value) {
  if (!(value < Infinity)) return value;
  single[0] = value + 0;
  bits[0] += single[0] < 0 ? -1 : 1;
  return single[0];
}

/**
 * Products of matrices, (m, k) and (k, n) each.
 * @param {Float64Array} a
 * @param {Float64Array} b
 * @param {number} m
 * @param {number} k
 * @param {number} n
 */
export function multiplied(a, b, m, k, n) {
  const count = a.length / (m * k) || 0;
  const out = new Float64Array(count * m * n);
  for (let each = 0; each < count; each += 1)
    for (let i = 0; i < m; i += 1)
      for (let along = 0; along < k; along += 1) {
        const factor = a[(each * m + i) * k + along];
        const [to, from] = [(each * m + i) * n, (each * k + along) * n];
        for (let j = 0; j < n; j += 1) out[to + j] += factor * b[from + j];
      }
  return out;
}

/** What matrices (n, n) make right sides (n,) of, by elimination. @param {Float64Array} matrices @param {Float64Array} right @param {number} n */
export function solved(matrices, right, n) {
  const [a, x] = [matrices.slice(), right.slice()];
  for (let each = 0; each < x.length / n; each += 1)
    solve(a.subarray(each * n * n, (each + 1) * n * n), x.subarray(each * n, (each + 1) * n), n);
  return x;
}

/** @param {Float64Array} a @param {Float64Array} x both in place @param {number} n */
function solve(a, x, n) {
  for (let column = 0; column < n; column += 1) {
    let pivot = column;
    for (let row = column; row < n; row += 1)
      if (Math.abs(a[row * n + column]) > Math.abs(a[pivot * n + column])) pivot = row;
    for (let j = 0; j < n; j += 1)
      [a[column * n + j], a[pivot * n + j]] = [a[pivot * n + j], a[column * n + j]];
    [x[column], x[pivot]] = [x[pivot], x[column]];
    for (let row = column + 1; row < n; row += 1) {
      const factor = a[row * n + column] / a[column * n + column];
      for (let j = column; j < n; j += 1) a[row * n + j] -= factor * a[column * n + j];
      x[row] -= factor * x[column];
    }
  }
  for (let row = n - 1; row >= 0; row -= 1) {
    for (let j = row + 1; j < n; j += 1) x[row] -= a[row * n + j] * x[j];
    x[row] /= a[row * n + row];
  }
}

const EPSILON = 2 ** -52;
const MOST_SWEEPS = 60;

/** The pseudo-inverses of matrices (m, n). @param {Float64Array} matrices @param {number} m @param {number} n */
export function inverted(matrices, m, n) {
  const out = new Float64Array(matrices.length);
  for (let each = 0; each * m * n < matrices.length; each += 1)
    out.set(inverse(matrices.subarray(each * m * n, (each + 1) * m * n), m, n), each * m * n);
  return out;
}

/** By turning columns until they are at right angles (Jacobi). @param {Float64Array} matrix @param {number} m @param {number} n */
function inverse(matrix, m, n) {
  const columns = Array.from({ length: n }, (_, j) =>
    Array.from({ length: m }, (__, i) => matrix[i * n + j]),
  );
  const turns = columns.map((_, j) => columns.map((__, i) => Number(i === j)));
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep += 1) if (!swept(columns, turns)) break;
  const sizes = columns.map((column) => Math.sqrt(dot(column, column)));
  const least = Math.max(m, n) * EPSILON * Math.max(...sizes);
  const out = new Float64Array(n * m);
  sizes.forEach((size, k) => {
    if (!(size > least)) return;
    for (let j = 0; j < n; j += 1)
      for (let i = 0; i < m; i += 1) out[j * m + i] += (turns[k][j] * columns[k][i]) / (size * size);
  });
  return out;
}

/** Whether any two columns had to be turned. @param {number[][]} columns @param {number[][]} turns */
function swept(columns, turns) {
  let turned = false;
  for (let p = 0; p < columns.length; p += 1)
    for (let q = p + 1; q < columns.length; q += 1) {
      const [one, two] = [columns[p], columns[q]];
      const [a, b, c] = [dot(one, one), dot(two, two), dot(one, two)];
      if (!(Math.abs(c) > EPSILON * Math.sqrt(a * b))) continue;
      turned = true;
      const zeta = (b - a) / (2 * c);
      const tangent = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
      const cosine = 1 / Math.hypot(1, tangent);
      for (const pair of [columns, turns]) turn(pair[p], pair[q], cosine, cosine * tangent);
    }
  return turned;
}

/** @param {number[]} one @param {number[]} two both in place @param {number} cosine @param {number} sine */
function turn(one, two, cosine, sine) {
  one.forEach((left, i) => {
    const right = two[i];
    one[i] = cosine * left - sine * right;
    two[i] = sine * left + cosine * right;
  });
}

/** @param {number[]} one @param {number[]} two */
const dot = (one, two) => one.reduce((sum, value, i) => sum + value * two[i], 0);

/**
 * Even steps from both ends to the middle, as torch has them.
 * @param {number} code
 * @param {number} start
 * @param {number} stop
 * @param {number} count
 */
export function even(code, start, stop, count) {
  const [first, last] = fit(listed(start, stop), code);
  const [step] = fit(listed(count > 1 ? (last - first) / (count - 1) : 0), code);
  const at = (/** @type {undefined} */ _, /** @type {number} */ i) =>
    i < count >> 1 || count < 2 ? first + step * i : last - step * (count - 1 - i);
  return fit(Float64Array.from({ length: count }, at), code);
}
