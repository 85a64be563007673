// The hand on the chart: wheel, drag, pinch and double click move the view; pointing and tapping probe.

import { moved, pinched, zoomed } from "../scene/view.js";

/** @import { Range } from "../scene/axes.js" */
/**
 * The view that gestures start from, and the callbacks for their results. ``share`` is a px as a part of the width.
 * @typedef {{view: () => Range, share: (px: number) => number,
 *   onView: (view: Range, phase: "moving"|"settled") => void, onReset: () => void,
 *   onPoint: (px: number|null) => void, onPin: (px: number) => void, pencil?: import("./pencil.js").Pencil}} Hand
 */

const REST_MS = 180; // after the last turn of the wheel
const TAP_PX = 5; // a finger that moves less than this taps

/**
 * Listen on an element. One finger drags sideways, so that a swipe up or down scrolls the page.
 * @param {HTMLElement} element
 * @param {Hand} hand
 * @returns {() => void} what ends it
 */
export function followGestures(element, hand) {
  const end = new AbortController();
  const pointers = new Map();
  let start = /** @type {{view: Range, at: number[], far: boolean}|null} */ (null);
  let latest = /** @type {Range|null} */ (null);

  /** Begin anew from where the fingers are. @param {boolean} far whether this no longer is a tap */
  function grasp(far) {
    start = pointers.size ? { view: hand.view(), at: [...pointers.values()], far } : null;
  }

  /** @param {Range} view */
  function move(view) {
    latest = view;
    hand.onView(view, "moving");
  }

  function settle() {
    if (latest) hand.onView(latest, "settled");
    latest = null;
  }

  /** @param {PointerEvent} event */
  function dragged(event) {
    if (hand.pencil?.move(event) || !start) return;
    pointers.set(event.pointerId, event.clientX);
    const now = [...pointers.values()];
    if (Math.abs(now[0] - start.at[0]) > TAP_PX && !start.far) {
      start.far = true;
      element.setPointerCapture(event.pointerId);
      hand.onPoint(null);
    }
    const [from, to] = [start.at, now].map((all) => all.map(hand.share));
    if (now.length > 1) move(pinched(start.view, [from[0], from[1]], [to[0], to[1]]));
    else if (start.far) move(moved(start.view, from[0] - to[0]));
  }

  /** @param {PointerEvent} event */
  function released(event) {
    if (!pointers.delete(event.pointerId)) return;
    if (hand.pencil?.lift(event)) return;
    if (start && !start.far && !pointers.size && event.type === "pointerup") hand.onPin(event.clientX);
    grasp(true);
    if (!pointers.size) settle();
  }

  /** @param {string} type @param {(event: *) => void} listener */
  const on = (type, listener) =>
    element.addEventListener(type, listener, { passive: false, signal: end.signal });
  on("pointerdown", (event) => {
    if (event.button || pointers.size > 1) return;
    pointers.set(event.pointerId, event.clientX);
    if (hand.pencil?.press(event, pointers.size)) return;
    grasp(pointers.size > 1);
  });
  on("pointermove", (event) => {
    if (pointers.has(event.pointerId)) dragged(event);
    else if (event.pointerType === "mouse") hand.onPoint(event.clientX);
  });
  on("pointerup", released);
  on("pointercancel", released);
  on("pointerleave", (event) => {
    if (event.pointerType === "mouse" && !pointers.size) hand.onPoint(null);
  });
  on("dblclick", (event) => hand.pencil?.add(event) || hand.onReset());

  let resting = 0;
  on("wheel", (/** @type {WheelEvent} */ event) => {
    event.preventDefault();
    const view = hand.view();
    const lines = event.deltaMode === 1 ? 30 : 1;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(moved(view, (event.deltaX * lines) / 800));
    else {
      const x = view[0] + hand.share(event.clientX) * (view[1] - view[0]);
      move(zoomed(view, x, 1.0015 ** (event.deltaY * lines)));
    }
    hand.onPoint(event.clientX); // the pointer rests, what is under it does not
    clearTimeout(resting);
    resting = setTimeout(settle, REST_MS);
  });
  return () => {
    clearTimeout(resting);
    end.abort();
  };
}
