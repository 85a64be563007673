// A slider under a pointer. A mouse puts the thumb where it presses; a finger moves it from where it is, and
// sideways only, so that a page that is scrolled over a slider changes nothing.

const THUMB_PX = 16;
const SIDEWAYS_PX = 4; // less of a finger's way is no move yet

/**
 * Let pointers on ``track`` move the native slider in it, which fires "input" and "change".
 * @param {HTMLElement} track takes the pointers in the slider's place
 * @param {HTMLInputElement} range
 */
export function followPointer(track, range) {
  /** @type {{x: number, held: number, moving: boolean}|null} */
  let from = null;

  track.addEventListener("pointerdown", (event) => {
    if (event.button || from) return;
    track.setPointerCapture(event.pointerId);
    range.focus({ preventScroll: true });
    from = { x: event.clientX, held: Number(range.value), moving: event.pointerType === "mouse" };
    const off = event.clientX - thumbOf(range);
    if (from.moving && Math.abs(off) > THUMB_PX / 2) {
      from.x -= off;
      drag(event.clientX);
    }
  });
  track.addEventListener("pointermove", ({ clientX }) => {
    if (!from) return;
    if (!from.moving && Math.abs(clientX - from.x) < SIDEWAYS_PX) return;
    if (!from.moving) Object.assign(from, { moving: true, x: clientX });
    drag(clientX);
  });
  track.addEventListener("pointerup", end);
  track.addEventListener("pointercancel", end); // the page scrolls instead

  /** @param {number} x of the pointer */
  function drag(x) {
    if (!from) return;
    const before = range.value;
    range.value = String(from.held + (x - from.x) * perPx(range));
    if (range.value !== before) range.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function end() {
    if (from?.moving) range.dispatchEvent(new Event("change", { bubbles: true }));
    from = null;
  }
}

/** How much of the value a px is. @param {HTMLInputElement} range */
function perPx(range) {
  return (Number(range.max) - Number(range.min)) / (range.getBoundingClientRect().width - THUMB_PX);
}

/** Where the middle of the thumb is, in px of the window. @param {HTMLInputElement} range */
function thumbOf(range) {
  const left = range.getBoundingClientRect().left + THUMB_PX / 2;
  return left + (Number(range.value) - Number(range.min)) / perPx(range);
}
