// Pointer control of a slider. A mouse press moves the thumb to the pointer. A finger drags the thumb from its place
// and only sideways, so that scrolling over a slider changes nothing.

const THUMB_PX = 16;
const SIDEWAYS_PX = 4; // a finger's movement up to this size is ignored

/**
 * Move the native slider in an element by pointer events on the element. The slider fires "input" and "change".
 * @param {HTMLElement} track the element, which gets the pointer events instead of the slider
 * @param {HTMLInputElement} range
 */
export function followPointer(track, range) {
  /** @type {{x: number, held: number, moving: boolean}|null} */
  let start = null;

  track.addEventListener("pointerdown", (event) => {
    if (event.button || start) return;
    track.setPointerCapture(event.pointerId);
    range.focus({ preventScroll: true });
    start = { x: event.clientX, held: Number(range.value), moving: event.pointerType === "mouse" };
    const off = event.clientX - getThumbX(range);
    if (start.moving && Math.abs(off) > THUMB_PX / 2) {
      start.x -= off;
      drag(event.clientX);
    }
  });
  track.addEventListener("pointermove", ({ clientX }) => {
    if (!start) return;
    if (!start.moving && Math.abs(clientX - start.x) < SIDEWAYS_PX) return;
    if (!start.moving) Object.assign(start, { moving: true, x: clientX });
    drag(clientX);
  });
  track.addEventListener("pointerup", end);
  track.addEventListener("pointercancel", end); // the browser scrolls the page instead

  /** @param {number} x position of the pointer */
  function drag(x) {
    if (!start) return;
    const before = range.value;
    range.value = String(start.held + (x - start.x) * getValuePerPx(range));
    if (range.value !== before) range.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function end() {
    if (start?.moving) range.dispatchEvent(new Event("change", { bubbles: true }));
    start = null;
  }
}

/** @param {HTMLInputElement} range */
function getValuePerPx(range) {
  return (Number(range.max) - Number(range.min)) / (range.getBoundingClientRect().width - THUMB_PX);
}

/** @param {HTMLInputElement} range */
function getThumbX(range) {
  const left = range.getBoundingClientRect().left + THUMB_PX / 2;
  return left + (Number(range.value) - Number(range.min)) / getValuePerPx(range);
}
