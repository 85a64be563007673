// Pointer gestures on a chart. Wheel, drag, pinch and double click change the visible range of x; hover and tap move
// the probe, which shows the curves' values at one x. Where the page scrolls, the wheel zooms only with Ctrl or Cmd.

import { moveView, pinchView, zoomView } from "../scene/view.js";

/** @import { Range } from "../scene/axes.js" */
/**
 * Callbacks of the chart's gestures. ``view``: returns the visible range of x; ``share``: converts a window position in
 * px to a fraction of the chart's width; ``onView``: called with each range that the user requests; ``onReset``:
 * returns to the first range; ``onPoint``: called with the pointer, null when it leaves; ``onPin``: with a tap.
 * @typedef {{view: () => Range, share: (px: number) => number, onView: (view: Range, phase: "moving"|"settled") =>
 *   void, onReset: () => void, onPoint: (px: number|null) => void, onPin: (px: number) => void, pencil?:
 *   import("./pencil.js").Pencil}} Hand
 */

const REST_MS = 180; // a zoom ends this long after its last wheel event
const TAP_PX = 5; // movements shorter than this are taps

/**
 * Listen to pointer and wheel gestures on a chart. One finger drags only sideways, because a vertical swipe scrolls the
 * page.
 * @param {HTMLElement} element @param {Hand} hand @returns {() => void} a function that stops listening
 */
export function followGestures(element, hand) {
  const end = new AbortController();
  const pointers = new Map();
  let start = /** @type {{view: Range, at: number[], far: boolean}|null} */ (null);
  let moves = false; // whether a range was reported that has not settled

  /**
   * Restart the gesture from the current finger positions, after a finger was added or lifted.
   * @param {boolean} far whether the gesture can no longer become a tap
   */
  function restart(far) {
    start = pointers.size ? { view: hand.view(), at: [...pointers.values()], far } : null;
  }

  /** @param {Range} view */
  function move(view) {
    moves = true;
    hand.onView(view, "moving");
  }

  function settle() {
    if (moves) hand.onView(hand.view(), "settled"); // not the last one moved to: it may have been reset since
    moves = false;
  }

  /** @param {PointerEvent} event */
  function handleDrag(event) {
    if (hand.pencil?.move(event) || !start) return;
    pointers.set(event.pointerId, event.clientX);
    const now = [...pointers.values()];
    if (Math.abs(now[0] - start.at[0]) > TAP_PX && !start.far) {
      start.far = true;
      element.setPointerCapture(event.pointerId);
      hand.onPoint(null);
    }
    const [starts, to] = [start.at, now].map((all) => all.map(hand.share));
    if (now.length > 1) move(pinchView(start.view, [starts[0], starts[1]], [to[0], to[1]]));
    else if (start.far) move(moveView(start.view, starts[0] - to[0]));
  }

  /** @param {PointerEvent} event */
  function handleRelease(event) {
    if (!pointers.delete(event.pointerId)) return;
    if (hand.pencil?.lift(event)) return;
    if (start && !start.far && !pointers.size && event.type === "pointerup") hand.onPin(event.clientX);
    restart(true);
    if (!pointers.size) settle();
  }

  /** @param {string} type @param {(event: *) => void} listener */
  const listen = (type, listener) =>
    element.addEventListener(type, listener, { passive: false, signal: end.signal });
  listen("pointerdown", (event) => {
    if (event.button || pointers.size > 1) return;
    pointers.set(event.pointerId, event.clientX);
    if (hand.pencil?.press(event, pointers.size)) return;
    restart(pointers.size > 1);
  });
  listen("pointermove", (event) => {
    if (pointers.has(event.pointerId)) handleDrag(event);
    else if (event.pointerType === "mouse") hand.onPoint(event.clientX);
  });
  listen("pointerup", handleRelease);
  listen("pointercancel", handleRelease);
  listen("pointerleave", (event) => {
    if (event.pointerType === "mouse" && !pointers.size) hand.onPoint(null);
  });
  listen("dblclick", (event) => hand.pencil?.add(event) || hand.onReset());

  let restTimer = 0;
  listen("wheel", (/** @type {WheelEvent} */ event) => {
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!isSideways && !event.ctrlKey && !event.metaKey && canScroll(element)) return;
    event.preventDefault();
    const view = hand.view();
    const lines = event.deltaMode === 1 ? 30 : 1;
    if (isSideways) move(moveView(view, (event.deltaX * lines) / 800));
    else {
      const x = view[0] + hand.share(event.clientX) * (view[1] - view[0]);
      move(zoomView(view, x, 1.0015 ** (event.deltaY * lines)));
    }
    hand.onPoint(event.clientX); // while zooming, the x under a resting pointer changes
    clearTimeout(restTimer);
    restTimer = setTimeout(settle, REST_MS);
  });
  return () => {
    clearTimeout(restTimer);
    end.abort();
  };
}

/** Return whether the wheel scrolls the page or an element around it. @param {Element|null} node @returns {boolean} */
function canScroll(node) {
  if (!node) return window !== window.top; // of a frame, perhaps the page around it
  const { overflowY, position } = getComputedStyle(node);
  const root = document.scrollingElement;
  const scrolls = node === root ? overflowY !== "hidden" : ["auto", "scroll"].includes(overflowY);
  if (scrolls && node.scrollHeight > node.clientHeight + 1) return true;
  const shadow = node.getRootNode();
  const above = node.parentElement ?? (shadow instanceof ShadowRoot ? shadow.host : null);
  return canScroll(position === "fixed" && node !== root ? root : above);
}
