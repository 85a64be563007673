// The pencil: the user draws a rule's gradient by hand on the chart, and drags the points of the resulting line.

import { element, setAttribute } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { interpolateHeight, MAX_POINTS, roundPoints } from "../../formula/lines.js";
import { formatNumber } from "../../formula/numbers.js";
import { toLeftPx, toTopPx, toPanelFraction } from "../scene/panels.js";

/** @import { Point, Units } from "../../formula/lines.js" */
/** @import { Frame } from "../scene/panels.js" */
/** The phase of a drag: under way, or finished. @typedef {"moving"|"settled"} Phase */
/** The pencil of a chart. @typedef {ReturnType<typeof createPencil>} Pencil */
/**
 * A hand-drawn rule on the chart. Its points, x and gradient, can be dragged.
 * @typedef {{label: string, colour: string, points: Point[]}} EditedLine
 */

const MIN_STROKE_PX = 6; // shorter strokes are ignored as accidental
const KEY_STEPS = 5; // px

/**
 * Create the pencil with which the user draws a gradient curve on the chart.
 * @param {{onStroke: (stroke: Point[], units: Units, height: number) => void, onPoints: (points: Point[], phase: Phase,
 *   moved: number|null) => void}} acts ``onStroke``: gets a finished stroke; ``onPoints``: gets changed points;
 *   ``moved``: index of the moved point, null if one was added or removed; all positions are x and gradient values
 */
export function createPencil({ onStroke, onPoints }) {
  const path = shape("path", { class: "chart-stroke" });
  const overlay = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  const layer = element("div", { class: "chart-layer" });
  overlay.append(path);
  /** @type {Frame|null} */
  let frame = null;
  /** @type {EditedLine|null} */
  let line = null;
  let isOn = false;
  /** @type {{pointer: number, places: Point[]}|null} */
  let stroke = null;
  /** @type {HTMLElement[]} */
  let handles = [];

  /** Return a pointer's position in px from the chart's top left corner. @param {MouseEvent} event @returns {Point} */
  function toChartPoint({ clientX, clientY }) {
    const { left, top } = layer.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }

  /** Convert a chart position in px to x and gradient. @param {Point} place @returns {Point} */
  function toPanelPoint([px, py]) {
    const { x, gradient } = /** @type {Frame} */ (frame);
    const [low, high] = gradient.range;
    const share = toPanelFraction(/** @type {Frame} */ (frame), px);
    return [x[0] + share * (x[1] - x[0]), high - ((py - gradient.top) / gradient.height) * (high - low)];
  }

  /** Return the size of one pixel of the gradient panel, in x and in gradient. @returns {Units} */
  function units() {
    const { x, inner, gradient } = /** @type {Frame} */ (frame);
    return [(x[1] - x[0]) / inner, (gradient.range[1] - gradient.range[0]) / gradient.height];
  }

  /** Return whether a chart position in px is in the gradient panel. @param {Point} place */
  function isInside([px, py]) {
    if (!frame) return false;
    const { left, inner, gradient } = frame;
    return px >= left && px <= left + inner && py >= gradient.top && py <= gradient.top + gradient.height;
  }

  function trace() {
    setAttribute(path, "d", stroke?.places.map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`).join("") ?? "");
  }

  /** Move a chart position in px into the gradient panel. @param {Point} place @returns {Point} */
  function clampToPanel([px, py]) {
    const { left, inner, gradient } = /** @type {Frame} */ (frame);
    const bottom = gradient.top + gradient.height;
    return [Math.min(Math.max(px, left), left + inner), Math.min(Math.max(py, gradient.top), bottom)];
  }

  /**
   * Report the changed points of the drawn line.
   * @param {Point[]} points @param {number|null} [moved] index, null if a point was added or removed
   * @param {Phase} [phase]
   */
  const reportPoints = (points, moved = null, phase = "settled") => onPoints(points, phase, moved);

  /**
   * Move a point of the drawn line, at most up to its neighbours.
   * @param {number} index @param {Point} to @param {Phase} phase
   */
  function move(index, to, phase) {
    if (!line) return;
    const [[x, y]] = roundPoints([to], units());
    const { points } = line;
    const [before, after] = [points[index - 1]?.[0] ?? -Infinity, points[index + 1]?.[0] ?? Infinity];
    const at = x > before && x < after ? x : points[index][0];
    reportPoints(points.with(index, [at, y]), index, phase);
  }

  /** Insert a point into the drawn line, unless the line is full or has a point at this x. @param {Point} point */
  function insertPoint(point) {
    if (!line || line.points.length >= MAX_POINTS) return;
    const [[x, y]] = roundPoints([point], units());
    if (line.points.every(([at]) => at !== x))
      reportPoints([...line.points, /** @type {Point} */ ([x, y])].sort(([one], [other]) => one - other));
  }

  /**
   * Move or delete a point of the drawn line with the keyboard.
   * @param {number} index of the handle @param {KeyboardEvent} event
   */
  function handleKey(index, event) {
    if (!line) return;
    const { points } = line;
    const [x, y] = points[index];
    const [right, up] = units().map((unit) => unit * KEY_STEPS * (event.shiftKey ? 10 : 1));
    const next = points[index + 1] ?? points[index - 1];
    const middle = (x + next[0]) / 2;
    const moveBy = (/** @type {number} */ dx, /** @type {number} */ dy) => () =>
      move(index, [x + dx * right, y + dy * up], "settled");
    const acts = /** @type {Object<string, () => void>} */ ({
      ArrowLeft: moveBy(-1, 0),
      ArrowRight: moveBy(1, 0),
      ArrowUp: moveBy(0, 1),
      ArrowDown: moveBy(0, -1),
      "+": () => insertPoint([middle, interpolateHeight(points, middle)]),
      Delete: () => points.length > 2 && reportPoints(points.toSpliced(index, 1)),
    });
    const act = acts[event.key === "Backspace" ? "Delete" : event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
    handles[Math.min(index, handles.length - 1)]?.focus();
  }

  /** Create the handle by which one point of the drawn line is dragged. @param {number} index */
  function createHandle(index) {
    const node = element("div", { class: "chart-point", role: "slider", tabindex: 0 });
    const handleDrag = (/** @type {PointerEvent} */ event) => {
      event.stopPropagation();
      if (!node.hasPointerCapture(event.pointerId)) return;
      move(
        index,
        toPanelPoint(clampToPanel(toChartPoint(event))),
        event.type === "pointerup" ? "settled" : "moving",
      );
    };
    node.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      event.stopPropagation();
      if (!event.button) node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", handleDrag);
    node.addEventListener("pointerup", handleDrag);
    node.addEventListener("dblclick", (/** @type {Event} */ event) => event.stopPropagation());
    node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => handleKey(index, event));
    layer.append(node);
    return node;
  }

  function place() {
    const points = (frame && line?.points) || [];
    while (handles.length > points.length) handles.pop()?.remove();
    while (handles.length < points.length) handles.push(createHandle(handles.length));
    points.forEach(([x, y], index) => {
      const { label, colour } = /** @type {EditedLine} */ (line);
      const { x: ends, gradient } = /** @type {Frame} */ (frame);
      const node = handles[index];
      const [px, py] = [toLeftPx(/** @type {Frame} */ (frame), x), toTopPx(gradient, y)];
      node.hidden = !isInside([px, py]);
      node.style.setProperty("--colour", colour);
      node.style.transform = `translate(${px}px, ${py}px)`;
      const text = `x = ${formatNumber(x)}, gradient ${formatNumber(y)}`.replaceAll("-", "−");
      setAttribute(node, "aria-label", `Point ${index + 1} of ${points.length} of ${label}`);
      setAttribute(node, "title", "Drag it, or use arrow keys; + adds a point, Delete removes it");
      setAttribute(node, "aria-valuemin", Math.min(gradient.range[0], y));
      setAttribute(node, "aria-valuemax", Math.max(gradient.range[1], y));
      setAttribute(node, "aria-valuenow", y);
      setAttribute(node, "aria-valuetext", x < ends[0] || x > ends[1] ? `${text}, out of view` : text);
    });
  }

  return {
    /** Add the pencil's overlay to a chart. @param {HTMLElement} area */
    put: (area) => area.append(overlay, layer),
    /** Store the panels' positions in the chart's latest drawing. @param {Frame} next */
    follow(next) {
      frame = next;
      place();
    },
    /** Show a handle for each point of a line; null removes them. @param {EditedLine|null} next */
    show(next) {
      line = next;
      place();
    },
    /** Turn the pencil on or off. @param {boolean} on */
    turn(on) {
      isOn = on;
      stroke = null;
      trace();
      layer.parentElement?.classList.toggle("drawing", on);
    },
    /** Move the keyboard focus to the first point of the drawn line. */
    focus: () => handles[0]?.focus(),
    units,
    /**
     * Begin a stroke, and return true, if exactly one finger is down.
     * @param {PointerEvent} event @param {number} fingers
     */
    press(event, fingers) {
      const place = toChartPoint(event);
      stroke =
        isOn && fingers === 1 && isInside(place) ? { pointer: event.pointerId, places: [place] } : null;
      trace();
      if (stroke) layer.parentElement?.setPointerCapture(event.pointerId);
      return stroke !== null;
    },
    /** Continue the stroke of a pointer. Returns false for another pointer. @param {PointerEvent} event */
    move(event) {
      if (stroke?.pointer !== event.pointerId) return false;
      const all = event.getCoalescedEvents?.() ?? [];
      stroke.places.push(...(all.length ? all : [event]).map((each) => clampToPanel(toChartPoint(each))));
      trace();
      return true;
    },
    /** End the stroke of a pointer. Returns false for another pointer. @param {PointerEvent} event */
    lift(event) {
      if (stroke?.pointer !== event.pointerId) return false;
      const { places } = stroke;
      stroke = null;
      trace();
      const xs = places.map(([x]) => x);
      const isLine = Math.max(...xs) - Math.min(...xs) >= MIN_STROKE_PX;
      const { range } = /** @type {Frame} */ (frame).gradient;
      if (isLine && event.type === "pointerup")
        onStroke(places.map(toPanelPoint), units(), range[1] - range[0]);
      return true;
    },
    /**
     * Add a point where the user double-clicks. Returns whether the pencil used the event.
     * @param {MouseEvent} event
     */
    add(event) {
      const place = toChartPoint(event);
      if (!isOn || !isInside(place)) return false;
      insertPoint(toPanelPoint(place));
      return true;
    },
  };
}
