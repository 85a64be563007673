// Places for labels: each next to what it names, nearer to it than to anything else, and over no other label.

import { clampTo } from "../../formula/numbers.js";

/** A position in px from the chart's left and upper edge. @typedef {number[]} Pixel */
/** Points of a line in ascending order of x. @typedef {Pixel[]} Trace */
/** The edges of a rectangle in px. @typedef {{left: number, right: number, top: number, bottom: number}} Box */
/**
 * A place of a label. ``side``: -1 on the left of its spot, 1 on the right, 0 above or below; ``lead``: points of a line
 * from the spot to the label, [] if they are next to each other; ``crosses``: whether it touches what it does not name.
 * @typedef {{box: Box, side: number, lead: Pixel[], cost: number, crosses: boolean}} Place
 */
/**
 * A label without a place. ``spots``: points next to which it may be, the best one first; ``own``: what it names;
 * ``others``: what it could seem to name; ``solid``: what else it does not cover; ``gap``: distance from the spot in px;
 * ``lean``: -1 if it is rather on the left of its spot, 1 on the right.
 * @typedef {{width: number, height: number, spots: Pixel[], own: Trace[], others: Trace[], solid?: Trace[], gap?: number,
 *   lean: number}} Request
 */

const GAP_PX = 4; // distance between a label and its spot
const CLEAR_PX = 2; // minimum distance between a label and any line
const OWN_PX = 4; // by which a label is nearer to what it names than to anything else
const FAR_PX = 16; // distance above which it does not matter
const APART_PX = 6; // minimum distance between labels next to each other
const LEADS_PX = [0, 12, 24, 36, 48]; // further distances from a spot, with a line to it
const LEAD_SHARES = Array.from({ length: 13 }, (_, at) => at / 12); // points of a line from a spot to its label
const DIRECTIONS = [-1, 0, 1].flatMap((down) =>
  (down ? [-1, -0.5, 0, 0.5, 1] : [-1, 1]).map((across) => [across, down]),
);

/**
 * Place labels, first those with the fewest possible places; if some have none, those before the others. Returns null for
 * each without a place.
 * @param {Request[]} requests @param {Box} area the panel @param {Box[]} taken boxes that labels do not cover
 * @param {number[]} [leads] see ``LEADS_PX`` @returns {(Place|null)[]}
 */
export function placeLabels(requests, area, taken, leads = LEADS_PX) {
  const known = requests.map(() => /** @type {Record<number, Place[]>} */ ({}));
  const list = (/** @type {number} */ at, /** @type {number} */ further) =>
    (known[at][further] ??= listPlaces(requests[at], area, further));
  let order = requests.map((_, at) => at).sort((one, other) => list(one, 0).length - list(other, 0).length);
  let best = /** @type {(Place|null)[]} */ ([]);
  for (let left = order; left.length; order = [...left, ...order.filter((at) => !left.includes(at))]) {
    const used = [...taken];
    const chosen = /** @type {(Place|null)[]} */ (requests.map(() => null));
    const isFree = (/** @type {Place} */ { box, lead }) =>
      used.every((other) => !areTooNear(box, other) && getGap([lead], other) >= CLEAR_PX);
    for (const at of order) {
      for (const crossed of leads === LEADS_PX ? [true] : [false, true])
        for (const further of leads)
          chosen[at] ??= list(at, further).find((some) => some.crosses <= crossed && isFree(some)) ?? null;
      const { box, lead } = chosen[at] ?? { lead: [] };
      used.push(...(box ? [box] : []), ...lead.map((point) => makeSquare(point, 0)));
    }
    const missing = order.filter((at) => !chosen[at]);
    if (best.length && missing.length >= left.length) break;
    [best, left] = [chosen, missing];
  }
  return best;
}

/**
 * List the possible places of a label at one distance from its spots, the best one first.
 * @param {Request} request @param {Box} area @param {number} further see ``LEADS_PX``
 */
function listPlaces({ width, height, spots, own, others, solid = [], gap = GAP_PX, lean }, area, further) {
  const away = gap + further;
  /** @type {Place[]} */
  const places = [];
  for (const [rank, spot] of spots.entries())
    for (const [across, down] of DIRECTIONS) {
      const left = spot[0] - width / 2 + across * (width / 2 + away);
      const top = spot[1] - height / 2 + down * (height / 2 + away);
      const box = { left, right: left + width, top, bottom: top + height };
      if (!isWithin(box, area) || getGap(solid, box) < CLEAR_PX) continue;
      const [distance, apart] = [getGap(own, box), getGap(others, box)];
      const lead = further ? makeLead(spot, box) : [];
      const isOwn = further > 0 || apart >= distance + OWN_PX;
      if (distance < CLEAR_PX || apart < CLEAR_PX || !isOwn) continue;
      const crosses = lead.some((point) => getGap([...others, ...solid], makeSquare(point, 0)) < CLEAR_PX);
      const turn = 0.05 * down - 0.1 * lean * across;
      const cost = rank / spots.length - apart / FAR_PX + turn + Number(crosses);
      places.push({ box, side: across, lead, cost, crosses });
    }
  return places.sort((one, other) => one.cost - other.cost);
}

/** Return points of the line from a spot to a box, in ascending order of x. @param {Pixel} spot @param {Box} box */
function makeLead([x, y], { left, right, top, bottom }) {
  const end = [clampTo(x, left, right), clampTo(y, top, bottom)];
  const points = LEAD_SHARES.map((share) => mix([[x, y], end], share));
  return end[0] < x ? points.reverse() : points;
}

/** Return the point of a line at a share of the way. @param {Pixel[]} line its ends @param {number} share @returns {Pixel} */
export const mix = ([[x, y], [x2, y2]], share) => [x + share * (x2 - x), y + share * (y2 - y)];

/** Return the distance in px from a box to the nearest point, at most ``FAR_PX``. @param {Trace[]} traces @param {Box} box */
export function getGap(traces, { left, right, top, bottom }) {
  let least = FAR_PX ** 2;
  for (const points of traces)
    for (
      let at = findFrom(points, left - FAR_PX);
      at < points.length && points[at][0] < right + FAR_PX;
      at += 1
    ) {
      const [x, y] = points[at];
      const [across, down] = [Math.max(left - x, x - right, 0), Math.max(top - y, y - bottom, 0)];
      least = Math.min(least, across * across + down * down);
    }
  return Math.sqrt(least);
}

/** Return the index of the first point at or to the right of an x. @param {Trace} points @param {number} x */
function findFrom(points, x) {
  let [from, to] = [0, points.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (points[middle][0] < x) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Return the box around a circle. @param {Pixel} middle @param {number} radius @returns {Box} */
export function makeSquare([x, y], radius) {
  return { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
}

/** @param {Box} box @param {Box} area */
const isWithin = ({ left, right, top, bottom }, area) =>
  left >= area.left && right <= area.right && top >= area.top && bottom <= area.bottom;

/** @param {Box} one @param {Box} other */
const areTooNear = (one, other) =>
  one.left < other.right + APART_PX &&
  other.left < one.right + APART_PX &&
  one.top < other.bottom &&
  other.top < one.bottom;
