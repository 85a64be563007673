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
const FAR_CELL = 0.3; // of the distance from all x: over so much a density is smooth too

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
  add(sum, jumpingPart(parts, noise, width, x));
  add(sum, straightPart(parts, noise, width, x));
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

/** @param {Parts} parts @param {Noise} noise @param {number} width @param {Float64Array} x */
function jumpingPart({ at, heights }, { density }, width, x) {
  const densities = around(density, at, width, x);
  return x.map((_, i) => {
    let sum = 0;
    for (let j = 0; j < at.length; j += 1) sum += densities[i * at.length + j] * heights[j];
    return sum / width;
  });
}

/** @param {Parts} parts @param {Noise} noise @param {number} width @param {Float64Array} x */
function straightPart({ straight }, { distribution }, width, x) {
  const ends = straight.flatMap(([low, high]) => [low, high]);
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
 * The part of curved pieces. Where the density goes on and on their nodes are the same for all x; a cell in which the
 * density around an x has a kink is cut there, for that x.
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
  const fixed = noise.tail === "none" ? null : weighed(parts, cells);
  const [lows, highs] = [Float64Array.from(cells.low), Float64Array.from(cells.high)];
  for (let from = 0, to = 0; from < x.length; from = to) {
    const cut = { low: [], high: [], owner: [], way: [] };
    const spans = /** @type {number[]} */ ([]);
    let count = 0;
    for (; to < x.length && count < AT_ONCE; to += 1) {
      const first = firstNotBelow(highs, x[to] - reach);
      const end = Math.max(first, firstNotBelow(lows, x[to] + reach));
      spans.push(first, end);
      count += end - first + 1;
      const edges = noise.kinks.map((kink) => x[to] + kink * width);
      if (fixed) exchange(cut, cells, highs, edges, to);
      else within(cut, cells, first, end, edges, to);
    }
    if (fixed) addFixed(sum, fixed, spans, from, noise, width, x);
    addCut(sum, cut, parts, noise, width, x);
  }
  return sum;
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
  for (const edge of edges) {
    const cell = firstNotBelow(highs, edge);
    const [low, high] = [cells.low[cell], cells.high[cell]];
    if (!(low < edge && edge < high)) continue;
    put(cut, low, high, owner, -1);
    put(cut, low, edge, owner, 1);
    put(cut, edge, high, owner, 1);
  }
}

/**
 * The parts of cells between edges.
 * @param {Cut} cut
 * @param {Stretches} cells
 * @param {number} first the first cell
 * @param {number} end the one after the last
 * @param {number[]} edges ascending
 * @param {number} owner
 */
function within(cut, cells, first, end, edges, owner) {
  for (let cell = first; cell < end; cell += 1)
    for (let edge = 1; edge < edges.length; edge += 1) {
      const low = Math.max(cells.low[cell], edges[edge - 1]);
      const high = Math.min(cells.high[cell], edges[edge]);
      if (high > low) put(cut, low, high, owner, 1);
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
  const [start, stop] = [x[0], x[x.length - 1]];
  const cells = { low: /** @type {number[]} */ ([]), high: /** @type {number[]} */ ([]) };
  const halve = (/** @type {number} */ low, /** @type {number} */ high) => {
    const away = Math.max(low - stop, start - high, 0);
    if (smooth === null || high - low <= Math.max(smooth * width, FAR_CELL * away)) {
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
 * Add the part of nodes that are the same for all x.
 * @param {Float64Array} sum
 * @param {{s: Float64Array, weights: Float64Array}} nodes
 * @param {number[]} spans the first cell and the one after the last for each x, from one x on
 * @param {number} from
 * @param {Noise} noise
 * @param {number} width
 * @param {Float64Array} x
 */
function addFixed(sum, { s, weights }, spans, from, { density }, width, x) {
  const nodes = NODES.length;
  const counts = spans.reduce((total, end, i) => (i % 2 ? total + end - spans[i - 1] : total), 0);
  const away = new Float64Array(nodes * counts);
  for (let i = 0, to = 0; 2 * i < spans.length; i += 1)
    for (let node = nodes * spans[2 * i]; node < nodes * spans[2 * i + 1]; node += 1)
      away[to++] = (s[node] - x[from + i]) / width;
  const densities = evaluate(density, { x: away, parameters: {} });
  for (let i = 0, to = 0; 2 * i < spans.length; i += 1) {
    let total = 0;
    for (let node = nodes * spans[2 * i]; node < nodes * spans[2 * i + 1]; node += 1)
      total += weights[node] * densities[to++];
    sum[from + i] += total / width;
  }
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
