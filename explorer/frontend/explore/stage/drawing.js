// Drawing on Explore: the pencil over the chart, and below it the line that says how to draw.

import { createPencil } from "../../chart/hand/pencil.js";
import { canAddRule } from "../../choice/choice.js";
import {
  getDrawing,
  findFreeName,
  isKeptSymmetric,
  getLastDrawing,
  toFormulaText,
  putDrawing,
} from "../../choice/drawing.js";
import { getCatalogue } from "../../choice/entries.js";
import { element, setText } from "../../elements/dom.js";
import { followKey } from "../../elements/keys.js";
import { fitLine } from "../../formula/lines.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Point } from "../../formula/lines.js" */

const HOW = "Drag over the lower panel to draw a gradient. Escape ends.";
const AT_ZERO = "At g = 0 every gradient is 0, so that nothing can be drawn: set another g.";
const ROOM = [-0.5, 1.5]; // of g
/** @type {Point[]} */
const FIRST = [[-1, 0], [0, 1], [1, 0]]; // prettier-ignore

/**
 * @param {import("../../choice/store.js").Store} store
 * @param {{read: import("../../choice/drawing.js").Read, colours: () => {rules: string[]}, onTurn: () => void}} options
 *   ``onTurn``: the pencil is on or off, so that the axis needs another range
 */
export function createDrawing(store, { read, colours, onTurn }) {
  const pencil = createPencil({ onStroke, onPoints });
  const words = element("span", { role: "status" });
  const first = element("button", { onclick: begin }, "Start from three points");
  const done = element("button", { onclick: () => turn(false) }, "Done");
  const line = element("p", { class: "pencil-words", hidden: true }, words, first, done);
  /** @type {number|null} */
  let slot = null; // that of the rule that the pencil draws, null before its first stroke
  let keys = new AbortController();
  let isOn = false;

  /** @param {boolean} on */
  function turn(on) {
    keys.abort();
    keys = new AbortController();
    slot = null;
    isOn = on && (canAddRule(store.current) || getLastDrawing(store.current) !== null);
    if (isOn && !canAddRule(store.current)) slot = getLastDrawing(store.current)?.slot ?? null;
    pencil.turn(isOn);
    line.hidden = !isOn;
    show(store.current);
    onTurn();
    if (!isOn) return;
    followKey("escape", () => turn(false), keys.signal);
    line.parentElement?.scrollIntoView({ block: "nearest" });
    first.focus({ preventScroll: true });
  }

  /** @param {Point[]} points at g = 1 @param {boolean} [zero] */
  function put(points, zero = false) {
    const known = store.current.rules.find((rule) => rule.slot === slot);
    const before = known && getDrawing(known.key);
    const drawing = before ? { ...before, points } : { name: findFreeName(store.current), points, zero };
    const slots = store.current.rules.map((rule) => rule.slot);
    putDrawing(store, before ? slot : null, drawing, { read, layer: "implied" });
    slot = store.current.rules.map((rule) => rule.slot).find((each) => !slots.includes(each)) ?? slot;
    show(store.current);
  }

  function begin() {
    put(FIRST, true);
    pencil.focus();
  }

  /** @param {Point[]} stroke @param {import("../../formula/lines.js").Units} units @param {number} height */
  function onStroke(stroke, [across, up], height) {
    const { g } = store.current;
    if (!g) return;
    const fits = (/** @type {Point[]} */ points) =>
      toFormulaText({ name: "Drawn_2", points, zero: true }).length <= getCatalogue().limits.formula;
    const scaled = stroke.map(([x, y]) => /** @type {Point} */ ([x, y / g]));
    const points = fitLine(scaled, [across, Math.abs(up / g)], Math.abs(height / g), fits);
    if (points.length > 1) put(points);
  }

  /** @param {Point[]} shown @param {"moving"|"settled"} phase @param {number|null} moved */
  function onPoints(shown, phase, moved) {
    const latest = getLastDrawing(store.current);
    if (!latest || !store.current.g) return;
    const points = shown.map(
      ([x, y]) => /** @type {Point} */ ([x, Number((y / store.current.g).toPrecision(3))]),
    );
    const twin = points.length - 1 - (moved ?? 0);
    if (moved !== null && isKeptSymmetric(store, latest.slot, latest.drawing)) {
      const [x, y] = points[moved];
      if (twin === moved) points[moved] = [0, y];
      else if (x * latest.drawing.points[moved][0] > 0) points[twin] = [-x, y];
      else return;
    }
    putDrawing(store, latest.slot, { ...latest.drawing, points }, { read, phase });
  }

  /** @param {Choice} choice */
  function show(choice) {
    const { g } = choice;
    const latest = g && !(isOn && slot === null) ? getLastDrawing(choice) : null;
    const { rules } = colours();
    pencil.show(
      latest && {
        label: latest.drawing.name,
        colour: rules[latest.slot % rules.length],
        points: latest.drawing.points.map(([x, y]) => /** @type {Point} */ ([x, y * g])),
      },
    );
    setText(words, g ? HOW : AT_ZERO);
    first.hidden = !g || slot !== null;
  }

  const stop = store.subscribeNow(show);
  return {
    pencil,
    line,
    /** What the axis of gradients holds while one draws. @returns {[number, number]|undefined} */
    room: () =>
      isOn ? /** @type {[number, number]} */ (ROOM.map((end) => end * Math.abs(store.current.g))) : undefined,
    /** Turn the pencil on, or off where it is on. */
    toggle: () => turn(!isOn),
    destroy() {
      keys.abort();
      stop();
    },
  };
}
