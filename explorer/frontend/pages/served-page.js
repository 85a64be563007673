// The chart in Explore's HTML. It works while Streamlit loads, and is then moved into Streamlit's page.

import { parseMessage } from "../choice/message.js";
import { createPage } from "./page.js";
import { makePageReach } from "./reach.js";

const PAUSE_MS = 100;
const IDLE_MS = 600; // longer than a pause between keystrokes, or until a scroll begins

let isPressed = false; // whether a mouse button or finger is down
let lastInputTime = -Infinity; // time of the last key press or pointer release

/**
 * Create the chart in the HTML of a page from the data next to it. Returns null if there are none.
 * @returns {ReturnType<typeof createPage>|null}
 */
export function createServed() {
  const host = document.querySelector(".served");
  const root = /** @type {HTMLElement|null|undefined} */ (host?.querySelector(".instrument:not(.heading)"));
  const data = host?.querySelector("script")?.textContent;
  if (!host || !root || !data) return null;
  host.addEventListener("pointerdown", () => (isPressed = true));
  host.addEventListener("keydown", () => (lastInputTime = performance.now()));
  const handleRelease = () => {
    if (isPressed) lastInputTime = performance.now();
    isPressed = false;
  };
  for (const type of ["pointerup", "pointercancel"])
    window.addEventListener(type, handleRelease, { capture: true });
  const message = JSON.parse(data);
  return createPage(root, parseMessage(message.choice), makePageReach(message));
}

/** Wait until the chart can be moved unnoticed: without scrolling, input or an open dialog. */
export async function waitUntilIdle() {
  const getScroll = () => document.querySelector(".served")?.scrollTop;
  let before;
  do {
    before = getScroll();
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  } while (
    isPressed ||
    performance.now() - lastInputTime < IDLE_MS ||
    before !== getScroll() ||
    document.querySelector(".served dialog[open]")
  );
}

/**
 * Move the chart into Streamlit's element. Focus, an open list and the scroll position are kept.
 * @param {Element} served the chart's element @param {Element} root the element made by Streamlit
 */
export function moveInto(served, root) {
  const focused = /** @type {HTMLInputElement|null} */ (document.activeElement);
  const selection = [focused?.selectionStart, focused?.selectionEnd];
  const scroll = document.querySelector(".served")?.scrollTop ?? 0;
  const parent = root.parentElement;
  // Removal from the page would close the list; ``moveBefore`` does not remove it.
  if (served.querySelector(":popover-open") && parent?.moveBefore) parent.moveBefore(served, root);
  else root.before(served);
  root.remove();
  const page = served.closest(".stMain");
  if (page) page.scrollTop = scroll;
  clear(); // only now, because Streamlit's page is hidden until then and cannot take the focus
  if (!served.contains(focused)) return;
  focused?.focus({ preventScroll: true });
  const [start, end] = selection;
  if (typeof start === "number" && typeof end === "number") focused?.setSelectionRange(start, end);
}

/** Remove the rest of the initial HTML of the page. */
export function clear() {
  document.querySelector(".served")?.remove();
}
