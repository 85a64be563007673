/**
 * The slope of E op(x + noise) by the parts of an op. Jumps count by the density of the noise, straight pieces by its
 * distribution, curved ones by nodes between all kinks of op and density.
 */

import { evaluate } from "../formula/evaluation.js";
import { firstNotBelow } from "../formula/floats.js";
import { NODES, WEIGHTS } from "./parts.js";

/** @import { Noise } from "./lens.js" */
/** @import { Parts } from "./parts.js" */

const TOUCHING = 1e-9; // of the reach: as near as that a hole is met
const AT_ONCE = 2 ** 12; // cells at once
const FARTHER = 1.5; // times the reach: there too lies less of a noise than rounding leaves
const FAR_CELL = 0.3; // of the distance from all x: over so much a density is smooth too
const FEW = 12; // nodes of a run: a polynomial of degree 11, as of two cells
const LEAST_RUN = 1.5 * FEW; // nodes: fewer are left as they are
/** The nodes of Chebyshev from −1 to 1, and the weights of the polynomial through them. */
const CHEBYSHEV = Array.from({ length: FEW }, (_, k) => {
  const angle = ((2 * k + 1) * Math.PI) / (2 * FEW);
  return { node: Math.cos(angle), weight: (k % 2 ? -1 : 1) * Math.sin(angle) };
});

/**
 * d/dx E op(x + noise) at ascending x; NaN where the noise reaches a stretch or pole without a value.
 * @param {Parts} parts
 * @param {Noise} noise
 * @param {number} width
 * @param {number} reach
 * @param {Float64Array} x
 */
export function smoothed(parts, noise, width, reach, x) {
  const sum = curvedPart(parts, noise, width, reach, x);
  // What an op without jumps would be farther out is no part of a bounded one.
  const far = noise.tail === "power" ? reach : Infinity;
  const [least, most] = [x[0] - far, x[x.length - 1] + far];
  const isNear = parts.at.map((at) => least <= at && at <= most);
  const [at, heights] = [parts.at, parts.heights].map((each) => each.filter((_, i) => isNear[i]));
  const jumps = massesOf(at, at, { s: at, weights: heights }, noise, width, reach, x);
  addMasses(sum, jumps, noise, width, noise.tail === "power" ? Infinity : FARTHER * reach, x);
  add(sum, straightPart(parts, noise, width, [least, most], x));
  const near = reach * (1 + TOUCHING);
  for (const [low, high] of parts.holes)
    x.forEach((at, i) => {
      if (high >= at - near && low <= at + near) sum[i] = NaN;
    });
  return sum;
}

/** @param {Float64Array} sum @param {Float64Array} more */
function add(sum, more) {
  for (let i = 0; i < sum.length; i += 1) sum[i] += more[i];
}

/**
 * A tree of the noise at distances from x in widths, those of the first x before those of the second.
 * @param {import("../formula/evaluation.js").Tree} tree
 * @param {number[]} at
 * @param {number} width
 * @param {Float64Array} x
 */
function around(tree, at, width, x) {
  const s = new Float64Array(x.length * at.length);
  for (let i = 0; i < x.length; i += 1)
    for (let j = 0; j < at.length; j += 1) s[i * at.length + j] = (at[j] - x[i]) / width;
  return evaluate(tree, { x: s, parameters: {} });
}

/** @param {Parts} parts @param {Noise} noise @param {number} width @param {[number, number]} within @param {Float64Array} x */
function straightPart({ straight }, { distribution }, width, [least, most], x) {
  const ends = straight.flatMap((piece) => [0, 1].map((end) => Math.min(Math.max(piece[end], least), most)));
  const below = around(distribution, ends, width, x);
  return x.map((_, i) => {
    let sum = 0;
    for (let j = 0; j < straight.length; j += 1) {
      const at = i * ends.length + 2 * j;
      sum += (below[at + 1] - below[at]) * straight[j][2];
    }
    return sum;
  });
}

/** Cells or parts of them. @typedef {{low: number[], high: number[]}} Stretches */

/**
 * The part of curved pieces: by nodes that are the same for all x, but for a cell in which the density around an x has
 * a kink: it is cut there, for that x.
 * @param {Parts} parts
 * @param {Noise} noise
 * @param {number} width
 * @param {number} reach
 * @param {Float64Array} x
 */
function curvedPart(parts, noise, width, reach, x) {
  const sum = new Float64Array(x.length);
  if (!parts.curved.length) return sum;
  const cells = cellsFor(parts.curved, noise, width, x);
  const nodes = weighed(parts, cells);
  addMasses(sum, massesOf(cells.low, cells.high, nodes, noise, width, reach, x), noise, width, reach, x);
  const highs = Float64Array.from(cells.high);
  for (let from = 0, to = 0; from < x.length; from = to) {
    const cut = { low: [], high: [], owner: [], way: [] };
    for (; to < x.length && cut.low.length < AT_ONCE; to += 1)
      exchange(
        cut,
        cells,
        highs,
        noise.kinks.map((kink) => x[to] + kink * width),
        to,
      );
    addCut(sum, cut, parts, noise, width, x);
  }
  return sum;
}

/** Nodes: where an op rises, and by how much. @typedef {{s: ArrayLike<number>, weights: ArrayLike<number>}} Nodes */
/**
 * Runs of jumps or cells with the range of their nodes, and with that of the few that do for them where the density
 * around an x is smooth.
 * @typedef {{low: number[], high: number[], own: [number, number][], few: [number, number][], s: Float64Array,
 *   weights: Float64Array}} Masses
 */

/**
 * The nodes of jumps or cells in runs over which the density is smooth from wherever it is looked at. Over a run it is
 * near the polynomial through FEW of its points, so that many nodes weigh as much as so many.
 * @param {number[]} low ascending
 * @param {number[]} high
 * @param {Nodes} nodes as many for each
 * @param {Noise} noise
 * @param {number} width
 * @param {number} reach
 * @param {Float64Array} x
 * @returns {Masses}
 */
function massesOf(low, high, { s, weights }, { smooth }, width, reach, x) {
  const each = low.length ? s.length / low.length : 0;
  const runs = /** @type {Omit<Masses, "s"|"weights">} */ ({ low: [], high: [], own: [], few: [] });
  const [all, heavy] = [Array.from(s), Array.from(weights)];
  const longest = (/** @type {number} */ first, /** @type {number} */ last) =>
    Math.max(smooth === null ? reach / 2 : smooth * width, FAR_CELL * awayFrom(x, first, last));
  for (let first = 0, end = 0; first < low.length; first = end) {
    for (end = first + 1; end < low.length; end += 1)
      if (high[end] - low[first] > longest(low[first], high[end])) break;
    const own = /** @type {[number, number]} */ ([first * each, end * each]);
    runs.low.push(low[first]);
    runs.high.push(high[end - 1]);
    runs.own.push(own);
    if (own[1] - own[0] < LEAST_RUN) {
      runs.few.push(own);
      continue;
    }
    runs.few.push([all.length, all.length + FEW]);
    const few = condensed(s, weights, own, low[first], high[end - 1]);
    all.push(...few.s);
    heavy.push(...few.weights);
  }
  return { ...runs, s: Float64Array.from(all), weights: Float64Array.from(heavy) };
}

/**
 * FEW nodes that weigh a polynomial over a run as its own nodes do.
 * @param {ArrayLike<number>} s
 * @param {ArrayLike<number>} weights
 * @param {[number, number]} own
 * @param {number} low
 * @param {number} high
 */
function condensed(s, weights, [first, end], low, high) {
  const at = CHEBYSHEV.map(({ node }) => (low + high + node * (high - low)) / 2);
  const sums = new Float64Array(FEW);
  const parts = new Float64Array(FEW);
  for (let i = first; i < end; i += 1) {
    const same = at.indexOf(s[i]);
    if (same >= 0) {
      sums[same] += weights[i];
      continue;
    }
    let total = 0;
    for (let k = 0; k < FEW; k += 1) total += parts[k] = CHEBYSHEV[k].weight / (s[i] - at[k]);
    for (let k = 0; k < FEW; k += 1) sums[k] += (weights[i] * parts[k]) / total;
  }
  return { s: at, weights: sums };
}

/**
 * Add the density around each x over all masses within reach.
 * @param {Float64Array} sum
 * @param {Masses} masses
 * @param {Noise} noise
 * @param {number} width
 * @param {number} reach
 * @param {Float64Array} x
 */
function addMasses(sum, { low, high, own, few, s, weights }, { density, kinks }, width, reach, x) {
  const highs = Float64Array.from(high);
  const far = reach * (1 + TOUCHING);
  const near = width * TOUCHING;
  const away = new Float64Array(AT_ONCE);
  const owners = /** @type {[number, number, number][]} */ ([]); // index of x, and its nodes
  let filled = 0;
  const empty = () => {
    const densities = evaluate(density, { x: away.slice(0, filled), parameters: {} });
    let at = 0;
    for (const [i, first, end] of owners) {
      let total = 0;
      for (let node = first; node < end; node += 1) total += weights[node] * densities[at++];
      sum[i] += total / width;
    }
    owners.length = filled = 0;
  };
  for (let i = 0; i < x.length; i += 1) {
    const edges = kinks.map((kink) => x[i] + kink * width);
    for (let run = firstNotBelow(highs, x[i] - far); run < low.length && low[run] <= x[i] + far; run += 1) {
      const isCut = edges.some((edge) => low[run] - near <= edge && edge <= high[run] + near);
      let [first, end] = isCut ? own[run] : few[run];
      while (first < end) {
        const next = Math.min(end, first + AT_ONCE - filled);
        for (let node = first; node < next; node += 1) away[filled++] = (s[node] - x[i]) / width;
        owners.push([i, first, next]);
        first = next;
        if (filled === AT_ONCE) empty();
      }
    }
  }
  if (filled) empty();
}

/** ``owner``: the index of the x that each is of; ``way``: 1 where it is added, −1 where it is taken away. @typedef {Stretches & {owner: number[], way: number[]}} Cut */

/** @param {Cut} cut @param {number} low @param {number} high @param {number} owner @param {number} way */
function put(cut, low, high, owner, way) {
  cut.low.push(low);
  cut.high.push(high);
  cut.owner.push(owner);
  cut.way.push(way);
}

/**
 * Exchange the cells with edges in them for their parts.
 * @param {Cut} cut
 * @param {Stretches} cells
 * @param {Float64Array} highs
 * @param {number[]} edges ascending
 * @param {number} owner
 */
function exchange(cut, cells, highs, edges, owner) {
  for (let first = 0, end = 0; first < edges.length; first = end) {
    const cell = firstNotBelow(highs, edges[first]);
    for (end = first + 1; end < edges.length && edges[end] <= highs[cell];) end += 1;
    const [low, high] = [cells.low[cell], cells.high[cell]];
    const inside = edges.slice(first, end).filter((edge) => low < edge && edge < high);
    if (!inside.length) continue;
    put(cut, low, high, owner, -1);
    [...inside, high].forEach((edge, i) => put(cut, i ? inside[i - 1] : low, edge, owner, 1));
  }
}

/**
 * Cells over which the density is smooth from wherever it is looked at: the wider, the farther off.
 * @param {[number, number][]} curved
 * @param {Noise} noise
 * @param {number} width
 * @param {Float64Array} x
 * @returns {Stretches}
 */
function cellsFor(curved, { smooth }, width, x) {
  const cells = { low: /** @type {number[]} */ ([]), high: /** @type {number[]} */ ([]) };
  const halve = (/** @type {number} */ low, /** @type {number} */ high) => {
    if (smooth === null || high - low <= Math.max(smooth * width, FAR_CELL * awayFrom(x, low, high))) {
      cells.low.push(low);
      cells.high.push(high);
      return;
    }
    halve(low, (low + high) / 2);
    halve((low + high) / 2, high);
  };
  curved.forEach(([low, high]) => halve(low, high));
  return cells;
}

/** The distance of a stretch from all x. @param {Float64Array} x @param {number} low @param {number} high */
function awayFrom(x, low, high) {
  return Math.max(low - x[x.length - 1], x[0] - high, 0);
}

/**
 * The nodes of stretches, and the op's rise at each: what the nodes miss of a stretch's rise is spread over them.
 * @param {Parts} parts
 * @param {Stretches} stretches
 */
function weighed({ y, slope }, { low, high }) {
  const nodes = NODES.length;
  const s = new Float64Array(nodes * low.length);
  for (let i = 0, to = 0; i < low.length; i += 1)
    for (let node = 0; node < nodes; node += 1) s[to++] = low[i] + NODES[node] * (high[i] - low[i]);
  const weights = slope(s).slice();
  const [below, above] = [y(Float64Array.from(low)), y(Float64Array.from(high))];
  for (let i = 0; i < low.length; i += 1) {
    const [first, last] = [nodes * i, nodes * (i + 1)];
    let sum = 0;
    for (let at = first; at < last; at += 1) sum += WEIGHTS[at - first] * weights[at];
    if (!Number.isFinite(sum)) weights.fill((sum = 0), first, last); // the op's rise alone is known
    const rest = (above[i] - below[i]) / (high[i] - low[i]) - sum;
    for (let at = first; at < last; at += 1)
      weights[at] = (weights[at] + rest) * WEIGHTS[at - first] * (high[i] - low[i]);
  }
  return { s, weights };
}

/**
 * Add the part of stretches with nodes of their own.
 * @param {Float64Array} sum
 * @param {Cut} cut
 * @param {Parts} parts
 * @param {Noise} noise
 * @param {number} width
 * @param {Float64Array} x
 */
function addCut(sum, cut, parts, { density }, width, x) {
  if (!cut.low.length) return;
  const { s, weights } = weighed(parts, cut);
  const nodes = NODES.length;
  const away = new Float64Array(s.length);
  for (let at = 0; at < s.length; at += 1) away[at] = (s[at] - x[cut.owner[Math.floor(at / nodes)]]) / width;
  const densities = evaluate(density, { x: away, parameters: {} });
  for (let at = 0; at < s.length; at += 1) {
    const stretch = Math.floor(at / nodes);
    sum[cut.owner[stretch]] += (cut.way[stretch] * weights[at] * densities[at]) / width;
  }
}
