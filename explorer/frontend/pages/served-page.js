// The instrument of Explore as served with the page: it works while Streamlit loads, which then takes it over.

import { parseMessage } from "../choice/message.js";
import { createPage } from "./page.js";
import { pageReachOf } from "./reach.js";

const PAUSE_MS = 100;
const IDLE_MS = 600; // without input until idle: longer than between keystrokes, and than a scroll takes to begin

let isPressed = false; // whether a pointer is down
let lastInputTime = -Infinity; // time of the last key press or pointer release

/**
 * Create the instrument in the served page, from the data next to it; return null if there is none.
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
  return createPage(root, parseMessage(message.choice), pageReachOf(message));
}

/** Wait until the instrument can be moved: the layout is stable, nothing scrolls, and there is no input. */
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
 * Move the served instrument into Streamlit's host, and keep focus and scroll position.
 * @param {Element} served
 * @param {Element} root
 */
export function moveInto(served, root) {
  const focused = /** @type {HTMLElement|null} */ (document.activeElement);
  const scroll = document.querySelector(".served")?.scrollTop ?? 0;
  root.replaceWith(served);
  const page = served.closest(".stMain");
  if (page) page.scrollTop = scroll;
  clear(); // shows the page, which cannot take the focus before
  if (served.contains(focused)) focused?.focus({ preventScroll: true });
}

/** Remove the rest of the served page. */
export function clear() {
  document.querySelector(".served")?.remove();
}
