// Drawing a backward rule by hand on the chart, with instructions below the chart.

import { createPencil } from "../../chart/hand/pencil.js";
import { canAddRule } from "../../choice/choice.js";
import * as drawings from "../../choice/drawing.js";
import { element, setText } from "../../elements/dom.js";
import { followKey } from "../../elements/keys.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Point } from "../../formula/lines.js" */

const HINT = "Drag over the lower panel to draw a gradient.";
const DRAWN_HINT = "Drag its points, or draw it anew. Back or Ctrl+Z undoes a change.";
const ZERO_TEXT = "At g = 0 every gradient is 0, so that nothing can be drawn: set another g.";
const AXIS_RANGE = [-0.5, 1.5]; // the range of the gradient axis in units of |g|
const FIRST_POINTS = /** @type {Point[]} */ ([[-1, 0], [0, 1], [1, 0]]); // prettier-ignore
const LONGEST_NAME = "Drawn 2"; // of a rule that is drawn

/**
 * Create the pencil with which the user draws a backward rule.
 * @param {import("../../choice/store.js").Store} store
 * @param {{colours: () => {rules: string[]}, onTurn: () => void}} options ``onTurn``: called when the pencil is turned
 *   on or off, which changes the axis
 */
export function createDrawing(store, { colours, onTurn }) {
  const pencil = createPencil({ onStroke, onPoints });
  const words = element("span", { role: "status" });
  const first = element("button", { onclick: begin }, "Start from three points");
  const doneButton = element("button", { onclick: () => turn(false), title: "Key Escape" }, "Done");
  const line = element("p", { class: "pencil-words flex-wrap", hidden: true }, words, first, doneButton);
  /** @type {number|null} */
  let slot = null; // colour slot of the rule being drawn, null before the first stroke
  let keys = new AbortController();
  let isOn = false;
  let isDragged = false; // whether the user is dragging a point

  /** @param {boolean} on @param {number|null} [edited] slot of the drawing to change, null for a new one */
  function turn(on, edited = null) {
    keys.abort();
    keys = new AbortController();
    slot =
      edited ?? (canAddRule(store.current) ? null : (drawings.getLastDrawing(store.current)?.slot ?? null));
    isOn = on && (slot !== null || canAddRule(store.current));
    if (!isOn) slot = null;
    pencil.turn(isOn);
    line.hidden = !isOn;
    show(store.current);
    onTurn();
    if (!isOn) return;
    followKey("escape", () => turn(false), keys.signal);
    line.parentElement?.scrollIntoView({ block: "nearest" });
    (slot === null ? first : doneButton).focus({ preventScroll: true });
  }

  /** @param {Point[]} points for g = 1 @param {boolean} [zero] whether a new rule is 0 outside the points */
  function putPoints(points, zero = false) {
    const { rules } = store.current;
    const rule = rules.find((each) => each.slot === slot);
    const before = rule && drawings.getDrawing(rule.key);
    const drawing = before
      ? { ...before, points }
      : { name: drawings.findFreeName(store.current), points, zero };
    drawings.putDrawing(store, before ? slot : null, drawing, { layer: "implied" });
    slot = store.current.rules.find((each) => rules.every((one) => one.slot !== each.slot))?.slot ?? slot;
    show(store.current);
  }

  function begin() {
    putPoints(FIRST_POINTS, true);
    pencil.focus(0);
  }

  /**
   * @param {Point[]} stroke points of x and gradient
   * @param {import("../../formula/lines.js").Units} units size of a pixel in x and in gradient
   * @param {number} height height of the panel in units of the gradient
   */
  function onStroke(stroke, [across, up], height) {
    const { g } = store.current;
    if (!g) return;
    const scaled = stroke.map(([x, y]) => /** @type {Point} */ ([x, y / g]));
    const points = drawings.fitStroke(scaled, [across, Math.abs(up / g)], Math.abs(height / g), LONGEST_NAME);
    if (points.length > 1) putPoints(points);
  }

  /**
   * @param {Point[]} shown points of x and gradient at the current g @param {"moving"|"settled"} phase
   * @param {number|null} moved index of the moved point, null if one was added or removed
   */
  function onPoints(shown, phase, moved) {
    const latest = getShown(store.current);
    const { g } = store.current;
    if (!latest || !g) return;
    const points = shown.map(([x, y]) => /** @type {Point} */ ([x, Number((y / g).toPrecision(3))]));
    if (moved !== null && drawings.isKeptSymmetric(store, latest.slot, latest.drawing)) {
      const [x, y] = points[moved];
      const mirrored = points.length - 1 - moved;
      if (mirrored === moved) points[moved] = [0, y];
      else if (x * latest.drawing.points[moved][0] > 0) points[mirrored] = [-x, y];
      else return;
    }
    const point = isDragged || phase === "moving" ? null : moved;
    isDragged = phase === "moving";
    drawings.putDrawing(store, latest.slot, { ...latest.drawing, points }, { phase, point });
  }

  /** Return the drawing that is being edited, or else the last one, or null. @param {Choice} choice */
  function getShown(choice) {
    const rule = choice.rules.find((each) => each.slot === slot);
    const drawing = rule && drawings.getDrawing(rule.key);
    return drawing ? { slot: rule.slot, drawing } : drawings.getLastDrawing(choice);
  }

  /** @param {Choice} choice */
  function show(choice) {
    const { g } = choice;
    const { rules } = colours();
    const latest = g && !(isOn && slot === null) ? getShown(choice) : null;
    const points = latest?.drawing.points.map(([x, y]) => /** @type {Point} */ ([x, y * g])) ?? [];
    pencil.show(latest && { label: latest.drawing.name, colour: rules[latest.slot % rules.length], points });
    setText(words, !g ? ZERO_TEXT : slot === null ? HINT : DRAWN_HINT);
    first.hidden = !g || slot !== null;
  }

  const stop = store.subscribeNow(show);
  return {
    pencil,
    line,
    /** Return a range that the gradient axis must include while the user draws, otherwise undefined. */
    room: () =>
      isOn
        ? /** @type {[number, number]} */ (AXIS_RANGE.map((end) => end * Math.abs(store.current.g)))
        : undefined,
    /** Turn the pencil on or off, or on for a drawing. @param {number} [edited] its slot */
    toggle: (edited) => turn(edited !== undefined || !isOn, edited),
    destroy() {
      keys.abort();
      stop();
    },
  };
}
