// Backward rules that the user draws as a polyline on the chart. The browser plots them while they are drawn;
// Python parses their formula when the drag ends.

import { parseDrawing, writeFormula, isSymmetric, makeDrawnTree } from "../formula/lines.js";
import { replaceRule, addRule } from "./choice.js";
import { getCatalogue, findEntry, removeCustomEntry, addCustomEntry } from "./entries.js";

/** @import { Choice } from "./choice.js" */
/** @import { Rule } from "../formula/entry.js" */
/** @import { Drawing } from "../formula/lines.js" */
/** @typedef {import("./store.js").Store} Store */
/** Parses a formula; null without Python. @typedef {((kind: "rule", text: string) => Promise<*>)|null} Read */

/**
 * The colours of symmetric drawings whose points the user moves one by one.
 * @type {WeakMap<Store, Set<number>>}
 */
const loose = new WeakMap();

/** Return the points of a hand-drawn backward rule, or null if the rule is not drawn. @param {string} key */
export function getDrawing(key) {
  return parseDrawing(/** @type {Rule} */ (findEntry("rule", key)));
}

/** Return the last visible hand-drawn rule and its colour, or null if there is none. @param {Choice} choice */
export function getLastDrawing(choice) {
  const visibleRules = choice.rules.filter(({ hidden }) => !hidden);
  const drawings = visibleRules.flatMap(({ key, slot }) => {
    const drawing = getDrawing(key);
    return drawing ? [{ slot, drawing }] : [];
  });
  return drawings.pop() ?? null;
}

/** Return a name for a new drawing that differs from the names of all selected rules. @param {Choice} choice */
export function findFreeName({ rules }) {
  const labels = rules.map(({ key }) => findEntry("rule", key)?.label);
  const names = ["Drawn", ...rules.map((_, index) => `Drawn_${index + 2}`)];
  return /** @type {string} */ (names.find((name) => !labels.includes(name)));
}

/**
 * Return whether dragging a point of a drawing also moves its mirror image.
 * @param {Store} store @param {number} slot @param {Drawing} drawing
 */
export function isKeptSymmetric(store, slot, { points }) {
  return isSymmetric(points) && !loose.get(store)?.has(slot);
}

/**
 * Set whether a symmetric drawing stays symmetric when a point is dragged.
 * @param {Store} store @param {number} slot @param {boolean} on
 */
export function setSymmetry(store, slot, on) {
  const slots = loose.get(store) ?? new Set();
  loose.set(store, slots);
  if (on) slots.delete(slot);
  else slots.add(slot);
}

/** Convert a drawing to the text of a custom formula with its name. @param {Drawing} drawing */
export const toFormulaText = (drawing) => `${drawing.name} = ${writeFormula(drawing)}`;

/**
 * Create a temporary backward rule from a drawing, for use until Python has parsed its formula.
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
 * Add a hand-drawn line to the page as a new backward rule, or replace an existing one. Python parses the rule once
 * the user has stopped dragging.
 * @param {Store} store
 * @param {number|null} slot null for a new rule
 * @param {Drawing} drawing
 * @param {{read: Read, phase?: "moving"|"settled", layer?: string, point?: number|null}} how ``layer``: another layer
 *   of the chart; ``point``: the point that a key moves, all of whose steps are one step of the history
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

let changeCount = 0; // the changes of drawn rules so far, each of which can be undone by itself
/** The keys of the temporary rules that were made during a drag, one for each frame. @type {Set<string>} */
const movingKeys = new Set();

/**
 * Replace a temporary rule with the rule that Python has parsed.
 * @param {Store} store @param {string} key @param {Rule} entry @param {string} target of the change that made it
 */
function replacePreview(store, key, entry, target) {
  addCustomEntry("rule", entry);
  const slot = store.current.rules.find((rule) => rule.key === key)?.slot;
  if (slot !== undefined)
    store.change(entry.key === key ? { ...store.current } : replaceRule(store.current, slot, entry.key), {
      target,
    });
}
