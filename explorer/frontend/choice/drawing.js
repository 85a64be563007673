// Rules that are drawn: own formulas whose lines a hand changes. The browser draws them at once, Python reads them.

import { drawingOf, formulaOf, isSymmetric, treeOf } from "../formula/lines.js";
import { withOtherRule, withRule } from "./choice.js";
import { catalogue, find, forget, learn } from "./entries.js";

/** @import { Choice } from "./choice.js" */
/** @import { Rule } from "../formula/entry.js" */
/** @import { Drawing } from "../formula/lines.js" */
/** @typedef {import("./store.js").Store} Store */
/** The reader of a formula, null where there is none. @typedef {((kind: "rule", text: string) => Promise<*>)|null} Read */

/** The slots whose points move one by one although they are symmetric. @type {WeakMap<Store, Set<number>>} */
const loose = new WeakMap();

/** The drawing of a key, null for any other rule. @param {string} key */
export function drawingAt(key) {
  return drawingOf(/** @type {Rule} */ (find("rule", key)));
}

/** The rule drawn last of those that are visible. @param {Choice} choice */
export function latestDrawn(choice) {
  const shown = choice.rules.filter(({ hidden }) => !hidden);
  const drawn = shown.flatMap(({ key, slot }) => {
    const drawing = drawingAt(key);
    return drawing ? [{ slot, drawing }] : [];
  });
  return drawn.pop() ?? null;
}

/** A name that no rule of a choice has. @param {Choice} choice */
export function freeName({ rules }) {
  const labels = rules.map(({ key }) => find("rule", key)?.label);
  const names = ["Drawn", ...rules.map((_, index) => `Drawn_${index + 2}`)];
  return /** @type {string} */ (names.find((name) => !labels.includes(name)));
}

/** Whether a point takes its mirror image along. @param {Store} store @param {number} slot @param {Drawing} drawing */
export function keepsSymmetry(store, slot, { points }) {
  return isSymmetric(points) && !loose.get(store)?.has(slot);
}

/** @param {Store} store @param {number} slot @param {boolean} on */
export function turnSymmetry(store, slot, on) {
  const slots = loose.get(store) ?? new Set();
  loose.set(store, slots);
  if (on) slots.delete(slot);
  else slots.add(slot);
}

/** The text of a drawing as an own formula. @param {Drawing} drawing */
export const ownTextOf = (drawing) => `${drawing.name} = ${formulaOf(drawing)}`;

/** The entry of a drawing until Python has read it: its kinks are its points. @param {Drawing} drawing @returns {Rule} */
function previewOf(drawing) {
  const [x] = [drawing.points.map(([at]) => at)];
  const own = { key: catalogue().own + ownTextOf(drawing), label: drawing.name, formula: formulaOf(drawing) };
  const none = {
    parameters: [],
    movable: [],
    learned: {},
    pieces: undefined,
    slopes: undefined,
    usesY: false,
  };
  return { ...catalogue().firstOwn.rule[0], ...own, ...none, tree: treeOf(drawing), kinks: x };
}

/**
 * Put a drawing into a choice, in the place of a rule or as one more; Python reads it once the hand rests.
 * @param {Store} store
 * @param {number|null} slot
 * @param {Drawing} drawing
 * @param {{read: Read, phase?: "moving"|"settled", layer?: string}} how ``layer``: another layer of the chart
 */
export function putDrawing(store, slot, drawing, { read, phase = "settled", layer = store.now.layer }) {
  const entry = previewOf(drawing);
  const before = store.now.rules.find((rule) => rule.slot === slot);
  if (!find("rule", entry.key)) learn("rule", entry);
  const next = slot === null ? withRule(store.now, entry.key) : withOtherRule(store.now, slot, entry.key);
  store.change({ ...next, layer }, { phase, thing: `drawing ${slot}` });
  if (before && moving.delete(before.key) && before.key !== entry.key) forget("rule", before.key);
  if (phase === "moving") moving.add(entry.key);
  else
    read?.("rule", ownTextOf(drawing)).then(
      (answer) => answer && "entry" in answer && exchange(store, entry.key, answer.entry),
    );
}

/** The keys of a moving line, of which each is there for a frame. @type {Set<string>} */
const moving = new Set();

/** Python's entry in the place of the browser's. @param {Store} store @param {string} key @param {Rule} entry */
function exchange(store, key, entry) {
  learn("rule", entry);
  const slot = store.now.rules.find((rule) => rule.key === key)?.slot;
  if (slot !== undefined)
    store.change(entry.key === key ? { ...store.now } : withOtherRule(store.now, slot, entry.key), {
      thing: `drawing ${slot}`,
    });
}
