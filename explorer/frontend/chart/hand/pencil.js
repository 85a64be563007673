// The pencil: the user draws a rule's gradient by hand on the chart, and drags the points of the resulting line.

import { element, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { shape } from "../../elements/svg.js";
import { followPoints, MAX_POINTS, roundPoints } from "../../formula/lines.js";
import { formatNumber, writeMinus } from "../../formula/numbers.js";
import { toLeftPx, toTopPx, toPanelFraction } from "../scene/panels.js";

/** @import { Point, Units } from "../../formula/lines.js" */
/** @import { Frame } from "../scene/panels.js" */
/** The phase of a drag: "settled" once it has ended. @typedef {"moving"|"settled"} Phase */
/** The pencil of a chart. @typedef {ReturnType<typeof createPencil>} Pencil */
/**
 * A hand-drawn rule on the chart. The user can drag its points, which are pairs of x and gradient.
 * @typedef {{label: string, colour: string, points: Point[]}} EditedLine
 */

const MIN_STROKE_PX = 6; // shorter strokes are ignored as accidental
const KEY_STEPS = 5; // px
const HANDLE_HINT = "Drag it, or use arrow keys; + adds a point, Delete removes it";

/**
 * Create the pencil with which the user draws a gradient by hand. All points are pairs of x and gradient.
 * @param {{onStroke: (stroke: Point[], units: Units, height: number) => void, onPoints: (points: Point[], phase: Phase,
 *   moved: number|null) => void}} acts ``onStroke``: called with a finished stroke, the size of a pixel and the height
 *   of the panel; ``onPoints``: called with changed points; ``moved``: index of a moved one, or null
 */
export function createPencil({ onStroke, onPoints }) {
  const path = shape("path", {
    fill: "none",
    stroke: "currentColor",
    "stroke-width": 2.5,
    class: "chart-stroke",
  });
  const overlay = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  const layer = element("div", { class: "chart-layer" });
  overlay.append(path);
  let frame = /** @type {Frame} */ (/** @type {unknown} */ (null)); // null before the chart's first drawing
  let line = /** @type {EditedLine|null} */ (null);
  let isOn = false;
  let stroke = /** @type {{pointer: number, places: Point[]}|null} */ (null);

  /** Return a pointer's position in px from the top left of the chart. @param {MouseEvent} event @returns {Point} */
  function toChartPoint({ clientX, clientY }) {
    const { left, top } = layer.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }

  /** Move a position in px on the chart to the nearest in the gradient panel. @param {Point} place @returns {Point} */
  function clampToPanel([px, py]) {
    const { left, inner, gradient } = frame;
    const bottom = gradient.top + gradient.height;
    return [Math.min(Math.max(px, left), left + inner), Math.min(Math.max(py, gradient.top), bottom)];
  }

  /** Return whether a position in px on the chart is in the gradient panel. @param {Point} place */
  const isInside = (place) => frame && clampToPanel(place).every((at, axis) => at === place[axis]);

  /** Convert a position in px on the chart to x and gradient. @param {Point} place @returns {Point} */
  function toPanelPoint([px, py]) {
    const { x, gradient } = frame;
    const [start, high] = [x[0], gradient.range[1]];
    return [start + toPanelFraction(frame, px) * (x[1] - start), high - (py - gradient.top) * units()[1]];
  }

  /** Return the size of a pixel in the gradient panel: its width in x, and its height in gradient. @returns {Units} */
  function units() {
    const { x, inner, gradient } = frame;
    return [(x[1] - x[0]) / inner, (gradient.range[1] - gradient.range[0]) / gradient.height];
  }

  /** @param {typeof stroke} next */
  function setStroke(next) {
    stroke = next;
    setAttribute(path, "d", next ? `M${next.places.join("L")}` : "");
  }

  /**
   * Move a point of the drawn line, but not past its neighbours.
   * @param {Point[]} points @param {number} index @param {Point} to @param {Phase} phase
   */
  function move(points, index, to, phase) {
    const [[x, y]] = roundPoints([to], units());
    const [before, after] = [points[index - 1]?.[0] ?? -Infinity, points[index + 1]?.[0] ?? Infinity];
    onPoints(points.with(index, [x > before && x < after ? x : points[index][0], y]), phase, index);
  }

  /**
   * Insert a point into the drawn line, unless the line has too many points or one at this x.
   * @param {Point[]} points @param {Point} point
   */
  function insertPoint(points, point) {
    const rounded = roundPoints([point], units());
    if (points.length < MAX_POINTS && points.every(([at]) => at !== rounded[0][0]))
      onPoints(
        [...points, ...rounded].sort(([one], [other]) => one - other),
        "settled",
        null,
      );
  }

  /** @param {Point[]} points @param {number} index index of the handle @param {KeyboardEvent} event */
  function handleKey(points, index, event) {
    const [x, y] = points[index];
    const [right, up] = units().map((unit) => unit * KEY_STEPS * (event.shiftKey ? 10 : 1));
    const middle = (x + (points[index + 1] ?? points[index - 1])[0]) / 2;
    const moveBy = (/** @type {number} */ dx, /** @type {number} */ dy) => () =>
      move(points, index, [x + dx, y + dy], "settled");
    const remove = () => points.length > 2 && onPoints(points.toSpliced(index, 1), "settled", null);
    const act = /** @type {Object<string, () => void>} */ ({
      ArrowLeft: moveBy(-right, 0),
      ArrowRight: moveBy(right, 0),
      ArrowUp: moveBy(0, up),
      ArrowDown: moveBy(0, -up),
      "+": () => insertPoint(points, [middle, followPoints(points)(middle)]),
      Delete: remove,
      Backspace: remove,
    })[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
    focus(Math.min(index, layer.children.length - 1));
  }

  /** @param {number} index */
  const focus = (index) => /** @type {HTMLElement|undefined} */ (layer.children[index])?.focus();

  /** @param {Point[]} points @param {number} index @param {PointerEvent} event */
  function drag(points, index, event) {
    const { type, pointerId } = event;
    const handle = /** @type {Element} */ (event.currentTarget);
    event.stopPropagation();
    if (type === "pointerdown" && !event.button) handle.setPointerCapture(pointerId);
    else if (handle.hasPointerCapture(pointerId))
      move(
        points,
        index,
        toPanelPoint(clampToPanel(toChartPoint(event))),
        type === "pointerup" ? "settled" : "moving",
      );
  }

  /** @param {EditedLine} of @param {number} index */
  function makeHandle({ label, colour, points }, index) {
    const [x, y] = points[index];
    const { x: ends, gradient } = frame;
    const place = /** @type {Point} */ ([toLeftPx(frame, x), toTopPx(gradient, y)]);
    const text = writeMinus(`x = ${formatNumber(x)}, gradient ${formatNumber(y)}`);
    const onDrag = (/** @type {PointerEvent} */ event) => drag(points, index, event);
    return h("div", {
      ...{ class: "chart-point", role: "slider", tabindex: 0, title: HANDLE_HINT, hidden: !isInside(place) },
      ...{ "--colour": colour, "--left": `${place[0]}px`, "--top": `${place[1]}px` },
      ...{ onpointerdown: onDrag, onpointermove: onDrag, onpointerup: onDrag },
      ondblclick: (/** @type {Event} */ event) => event.stopPropagation(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => handleKey(points, index, event),
      "aria-label": `Point ${index + 1} of ${points.length} of ${label}`,
      "aria-valuemin": Math.min(gradient.range[0], y),
      "aria-valuemax": Math.max(gradient.range[1], y),
      "aria-valuenow": y,
      "aria-valuetext": x < ends[0] || x > ends[1] ? `${text}, out of view` : text,
    });
  }

  function showHandles() {
    const shown = frame && line;
    render(layer, ...(shown ? shown.points.map((_, index) => makeHandle(shown, index)) : []));
  }

  return {
    /** @param {HTMLElement} area */
    put: (area) => area.append(overlay, layer),
    /** @param {Frame} next */
    follow(next) {
      frame = next;
      showHandles();
    },
    /** @param {EditedLine|null} next null hides it */
    show(next) {
      line = next;
      showHandles();
    },
    /** @param {boolean} on */
    turn(on) {
      isOn = on;
      setStroke(null);
      layer.parentElement?.classList.toggle("drawing", on);
    },
    focus,
    units,
    /**
     * Begin a stroke if exactly one finger is down in the gradient panel. Returns whether it begins.
     * @param {PointerEvent} event @param {number} fingers their number
     */
    press(event, fingers) {
      const place = toChartPoint(event);
      const begins = isOn && fingers === 1 && isInside(place);
      setStroke(begins ? { pointer: event.pointerId, places: [place] } : null);
      if (begins) layer.parentElement?.setPointerCapture(event.pointerId);
      return stroke !== null;
    },
    /** Continue the stroke of a pointer. Returns false for another pointer. @param {PointerEvent} event */
    move(event) {
      if (stroke?.pointer !== event.pointerId) return false;
      const all = event.getCoalescedEvents?.() ?? [];
      stroke.places.push(...(all.length ? all : [event]).map((each) => clampToPanel(toChartPoint(each))));
      setStroke(stroke);
      return true;
    },
    /** End the stroke of a pointer. Returns false for another pointer. @param {PointerEvent} event */
    lift(event) {
      if (stroke?.pointer !== event.pointerId) return false;
      const points = stroke.places.map(toPanelPoint);
      setStroke(null);
      const xs = points.map(([x]) => x);
      const [across, up] = units();
      if (event.type === "pointerup" && Math.max(...xs) - Math.min(...xs) >= MIN_STROKE_PX * across)
        onStroke(points, [across, up], up * frame.gradient.height);
      return true;
    },
    /** Add a point where the user double-clicks. Returns whether the event is used up. @param {MouseEvent} event */
    add(event) {
      const place = toChartPoint(event);
      if (!isOn || !isInside(place)) return false;
      if (line) insertPoint(line.points, toPanelPoint(place));
      return true;
    },
  };
}
