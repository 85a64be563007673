// Backward rules that the user draws on the chart as a polyline. The browser writes their formulas as Python would.

import { fitLine, parseDrawing, writeFormula, isSymmetric, makeDrawnTree } from "../formula/lines.js";
import { replaceRule, addRule } from "./choice.js";
import { getCatalogue, findEntry, removeCustomEntry, addCustomEntry } from "./entries.js";

/** @import { Choice } from "./choice.js" */
/** @import { Rule } from "../formula/entry.js" */
/** @import { Drawing, Point, Units } from "../formula/lines.js" */
/** @typedef {import("./store.js").Store} Store */

/**
 * For each store, the slots of symmetric drawings whose points the user moves one by one.
 * @type {WeakMap<Store, Set<number>>}
 */
const loose = new WeakMap();
/** The keys of the temporary rules of the current drag, one for each frame. @type {Set<string>} */
const movingKeys = new Set();
let changeCount = 0; // number of changes of drawings, to make each a separate history entry

/** Return the points of a hand-drawn rule, or null for another rule. @param {string} key the rule's key */
export const getDrawing = (key) => parseDrawing(/** @type {Rule} */ (findEntry("rule", key)));

/** Return the last visible hand-drawn rule with its slot, or null if there is none. @param {Choice} choice */
export function getLastDrawing({ rules }) {
  const last = rules.findLast(({ key, hidden }) => !hidden && getDrawing(key));
  return last ? { slot: last.slot, drawing: /** @type {Drawing} */ (getDrawing(last.key)) } : null;
}

/** Return a name for a new drawn rule that none of the selected rules has. @param {Choice} choice */
export function findFreeName({ rules }) {
  const labels = rules.map(({ key }) => findEntry("rule", key)?.label);
  const names = ["Drawn", ...rules.map((_, index) => `Drawn ${index + 2}`)];
  return /** @type {string} */ (names.find((name) => !labels.includes(name)));
}

/**
 * Fit a line to a stroke, with so few points that its formula is not too long.
 * @param {Point[]} stroke @param {Units} units @param {number} height height of the panel
 * @param {string} name the name of the rule
 */
export function fitStroke(stroke, units, height, name) {
  const max = getCatalogue().limits.formula - `${name} = `.length;
  return fitLine(stroke, units, height, (points) => writeFormula({ points, zero: true }).length <= max);
}

/**
 * Return whether a drawing stays symmetric: dragging a point then moves the mirrored point too.
 * @param {Store} store @param {number} slot the rule's slot @param {Drawing} drawing
 */
export function isKeptSymmetric(store, slot, { points }) {
  return isSymmetric(points) && !loose.get(store)?.has(slot);
}

/**
 * Set whether a symmetric drawing stays symmetric when a point is dragged.
 * @param {Store} store @param {number} slot the rule's slot
 * @param {boolean} on whether it does; otherwise points move one by one
 */
export function setSymmetry(store, slot, on) {
  const others = [...(loose.get(store) ?? [])].filter((each) => each !== slot);
  loose.set(store, new Set(on ? others : [...others, slot]));
}

/** Return the rule of a drawing. Its kinks are the points of the drawing. @param {Drawing} drawing @returns {Rule} */
export function makeDrawnRule(drawing) {
  const { own, ownRule } = getCatalogue();
  const formula = writeFormula(drawing);
  const name = drawing.name.replaceAll(" ", "_");
  const identity = { key: `${own}${name} = ${formula}`, label: drawing.name, formula };
  const searched = { pieces: undefined, slopes: undefined };
  const kinks = drawing.points.map(([x]) => x);
  return { ...ownRule, ...identity, ...searched, tree: makeDrawnTree(drawing), kinks };
}

/**
 * Show a drawing as a new backward rule, or in place of an existing one.
 * @param {Store} store @param {number|null} slot the slot of the existing rule, or null for a new one
 * @param {Drawing} drawing
 * @param {{phase?: "moving"|"settled", layer?: string, point?: number|null}} [how] ``layer``: the further curves to
 *   show; ``point``: the index of a point moved by arrow keys, since all moves of one point share a history entry
 */
export function putDrawing(store, slot, drawing, how = {}) {
  const { phase = "settled", layer = store.current.layer, point = null } = how;
  const target = point === null ? `drawing ${++changeCount}` : `point ${point} of ${slot}`;
  const entry = makeDrawnRule(drawing);
  const before = store.current.rules.find((rule) => rule.slot === slot);
  if (!findEntry("rule", entry.key)) addCustomEntry("rule", entry);
  const next =
    slot === null ? addRule(store.current, entry.key) : replaceRule(store.current, slot, entry.key);
  store.change({ ...next, layer }, { phase, target });
  if (before && movingKeys.delete(before.key) && before.key !== entry.key)
    removeCustomEntry("rule", before.key);
  if (phase === "moving") movingKeys.add(entry.key);
}
