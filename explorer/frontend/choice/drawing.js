// Rules drawn by hand: custom formulas whose polyline the visitor edits on the chart. The browser plots them at once;
// Python parses them when the drag ends.

import { parseDrawing, formulaOf, isSymmetric, treeOf } from "../formula/lines.js";
import { replaceRule, addRule } from "./choice.js";
import { getCatalogue, findEntry, removeCustomEntry, addCustomEntry } from "./entries.js";

/** @import { Choice } from "./choice.js" */
/** @import { Rule } from "../formula/entry.js" */
/** @import { Drawing } from "../formula/lines.js" */
/** @typedef {import("./store.js").Store} Store */
/** Parses a formula; null without Python. @typedef {((kind: "rule", text: string) => Promise<*>)|null} Read */

/** The slots whose points move independently although they are symmetric. @type {WeakMap<Store, Set<number>>} */
const loose = new WeakMap();

/** Return the drawing of a rule's key, or null for any other rule. @param {string} key */
export function getDrawing(key) {
  return parseDrawing(/** @type {Rule} */ (findEntry("rule", key)));
}

/** Return the last visible drawing with its slot, or null. @param {Choice} choice */
export function getLastDrawing(choice) {
  const visibleRules = choice.rules.filter(({ hidden }) => !hidden);
  const drawings = visibleRules.flatMap(({ key, slot }) => {
    const drawing = getDrawing(key);
    return drawing ? [{ slot, drawing }] : [];
  });
  return drawings.pop() ?? null;
}

/** Return a name that no rule of a choice uses as its label. @param {Choice} choice */
export function findFreeName({ rules }) {
  const labels = rules.map(({ key }) => findEntry("rule", key)?.label);
  const names = ["Drawn", ...rules.map((_, index) => `Drawn_${index + 2}`)];
  return /** @type {string} */ (names.find((name) => !labels.includes(name)));
}

/**
 * Return whether a point moves with its mirror image.
 * @param {Store} store @param {number} slot @param {Drawing} drawing
 */
export function isKeptSymmetric(store, slot, { points }) {
  return isSymmetric(points) && !loose.get(store)?.has(slot);
}

/** Set whether a symmetric drawing stays symmetric. @param {Store} store @param {number} slot @param {boolean} on */
export function setSymmetry(store, slot, on) {
  const slots = loose.get(store) ?? new Set();
  loose.set(store, slots);
  if (on) slots.delete(slot);
  else slots.add(slot);
}

/** Return the text of a drawing as a named custom formula. @param {Drawing} drawing */
export const toFormulaText = (drawing) => `${drawing.name} = ${formulaOf(drawing)}`;

/**
 * Return a drawing's entry until Python has parsed it; its kinks are its points.
 * @param {Drawing} drawing @returns {Rule}
 */
function makePreview(drawing) {
  const [x] = [drawing.points.map(([at]) => at)];
  const identity = {
    key: getCatalogue().own + toFormulaText(drawing),
    label: drawing.name,
    formula: formulaOf(drawing),
  };
  const emptyFields = {
    parameters: [],
    movable: [],
    learned: {},
    pieces: undefined,
    slopes: undefined,
    usesY: false,
  };
  return { ...getCatalogue().firstOwn.rule[0], ...identity, ...emptyFields, tree: treeOf(drawing), kinks: x };
}

/**
 * Put a drawing into a choice, as a new rule or instead of the rule in a slot. Python parses a settled drawing.
 * @param {Store} store
 * @param {number|null} slot null for a new rule
 * @param {Drawing} drawing
 * @param {{read: Read, phase?: "moving"|"settled", layer?: string}} how ``layer``: another layer of the chart
 */
export function putDrawing(store, slot, drawing, { read, phase = "settled", layer = store.current.layer }) {
  const entry = makePreview(drawing);
  const before = store.current.rules.find((rule) => rule.slot === slot);
  if (!findEntry("rule", entry.key)) addCustomEntry("rule", entry);
  const next =
    slot === null ? addRule(store.current, entry.key) : replaceRule(store.current, slot, entry.key);
  store.change({ ...next, layer }, { phase, target: `drawing ${slot}` });
  if (before && movingKeys.delete(before.key) && before.key !== entry.key)
    removeCustomEntry("rule", before.key);
  if (phase === "moving") movingKeys.add(entry.key);
  else
    read?.("rule", toFormulaText(drawing)).then(
      (answer) => answer && "entry" in answer && replacePreview(store, entry.key, answer.entry),
    );
}

/** The keys of lines during a drag, each used for one frame. @type {Set<string>} */
const movingKeys = new Set();

/** Replace a drawing's preview by Python's entry. @param {Store} store @param {string} key @param {Rule} entry */
function replacePreview(store, key, entry) {
  addCustomEntry("rule", entry);
  const slot = store.current.rules.find((rule) => rule.key === key)?.slot;
  if (slot !== undefined)
    store.change(entry.key === key ? { ...store.current } : replaceRule(store.current, slot, entry.key), {
      target: `drawing ${slot}`,
    });
}
