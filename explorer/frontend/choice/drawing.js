// Backward rules that the user draws on the chart as a polyline. During the drag, the browser evaluates the line
// itself; afterwards, Python parses it as a formula.

import { parseDrawing, writeFormula, isSymmetric, makeDrawnTree } from "../formula/lines.js";
import { replaceRule, addRule } from "./choice.js";
import { getCatalogue, findEntry, removeCustomEntry, addCustomEntry } from "./entries.js";

/** @import { Choice } from "./choice.js" */
/** @import { Rule } from "../formula/entry.js" */
/** @import { Drawing } from "../formula/lines.js" */
/** @typedef {import("./store.js").Store} Store */
/**
 * A function that has Python parse a rule's formula, or null if no Python is available.
 * @typedef {((kind: "rule", text: string) => Promise<*>)|null} Read
 */

/**
 * The colour slots of drawings that are symmetric but whose points are moved one by one, by store.
 * @type {WeakMap<Store, Set<number>>}
 */
const loose = new WeakMap();

/** Return the points of a hand-drawn rule, or null for others. @param {string} key of the rule */
export function getDrawing(key) {
  return parseDrawing(/** @type {Rule} */ (findEntry("rule", key)));
}

/** Return the last visible hand-drawn rule and its colour slot, or null if there is none. @param {Choice} choice */
export function getLastDrawing(choice) {
  const visibleRules = choice.rules.filter(({ hidden }) => !hidden);
  const drawings = visibleRules.flatMap(({ key, slot }) => {
    const drawing = getDrawing(key);
    return drawing ? [{ slot, drawing }] : [];
  });
  return drawings.pop() ?? null;
}

/** Return a name for a new drawn rule that no selected rule has. @param {Choice} choice */
export function findFreeName({ rules }) {
  const labels = rules.map(({ key }) => findEntry("rule", key)?.label);
  const names = ["Drawn", ...rules.map((_, index) => `Drawn_${index + 2}`)];
  return /** @type {string} */ (names.find((name) => !labels.includes(name)));
}

/**
 * Return whether a drawing stays symmetric: dragging a point then moves the mirrored point too.
 * @param {Store} store @param {number} slot of the rule @param {Drawing} drawing
 */
export function isKeptSymmetric(store, slot, { points }) {
  return isSymmetric(points) && !loose.get(store)?.has(slot);
}

/**
 * Set whether a symmetric drawing stays symmetric when a point is dragged.
 * @param {Store} store @param {number} slot of the rule @param {boolean} on false: its points move one by one
 */
export function setSymmetry(store, slot, on) {
  const slots = loose.get(store) ?? new Set();
  loose.set(store, slots);
  if (on) slots.delete(slot);
  else slots.add(slot);
}

/** Convert a drawing to a named formula, such as "Drawn_2 = …". @param {Drawing} drawing */
export const toFormulaText = (drawing) => `${drawing.name} = ${writeFormula(drawing)}`;

/**
 * Create a rule that evaluates a drawing until Python has parsed its formula.
 * @param {Drawing} drawing @returns {Rule}
 */
export function makePreview(drawing) {
  const [x] = [drawing.points.map(([at]) => at)];
  const identity = {
    key: getCatalogue().own + toFormulaText(drawing),
    label: drawing.name,
    formula: writeFormula(drawing),
  };
  const emptyFields = {
    parameters: [],
    movable: [],
    learned: {},
    pieces: undefined,
    slopes: undefined,
    usesY: false,
  };
  return { ...getCatalogue().ownRule, ...identity, ...emptyFields, tree: makeDrawnTree(drawing), kinks: x };
}

/**
 * Show a drawing as a new backward rule, or in place of an existing one. Python parses its formula once the drag ends.
 * @param {Store} store @param {number|null} slot null for a new rule @param {Drawing} drawing
 * @param {{read: Read, phase?: "moving"|"settled", layer?: string, point?: number|null}} how ``layer``: the chart's
 *   layer to show; ``point``: the point moved by arrow keys, whose moves share one history entry
 */
export function putDrawing(store, slot, drawing, how) {
  const { read, phase = "settled", layer = store.current.layer, point = null } = how;
  const target = point === null ? `drawing ${++changeCount}` : `point ${point} of ${slot}`;
  const entry = makePreview(drawing);
  const before = store.current.rules.find((rule) => rule.slot === slot);
  if (!findEntry("rule", entry.key)) addCustomEntry("rule", entry);
  const next =
    slot === null ? addRule(store.current, entry.key) : replaceRule(store.current, slot, entry.key);
  store.change({ ...next, layer }, { phase, target });
  if (before && movingKeys.delete(before.key) && before.key !== entry.key)
    removeCustomEntry("rule", before.key);
  if (phase === "moving") movingKeys.add(entry.key);
  else
    read?.("rule", toFormulaText(drawing)).then(
      (answer) => answer && "entry" in answer && replacePreview(store, entry.key, answer.entry, target),
    );
}

let changeCount = 0; // number of changes of drawings, to make each a separate history entry
/** Keys of the temporary rules of the current drag, one for each frame. @type {Set<string>} */
const movingKeys = new Set();

/**
 * Replace a drawing's temporary rule with the rule that Python has parsed.
 * @param {Store} store @param {string} key of the temporary rule @param {Rule} entry
 * @param {string} target of the change that made it, see ``Change``
 */
function replacePreview(store, key, entry, target) {
  addCustomEntry("rule", entry);
  const slot = store.current.rules.find((rule) => rule.key === key)?.slot;
  if (slot !== undefined)
    store.change(entry.key === key ? { ...store.current } : replaceRule(store.current, slot, entry.key), {
      target,
    });
}
