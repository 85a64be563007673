// Explore as it came with the page: drawn while Streamlit is still loading, which then takes it over.

import { parseMessage } from "../choice/message.js";
import { createPage } from "./page.js";
import { pageReachOf } from "./reach.js";

const PAUSE_MS = 100;
const REST_MS = 600; // from key to key of one who types; what a click has begun to scroll is seen by then

let held = false; // by a pointer
let touched = -Infinity; // when a key was last pressed or a pointer lifted

/**
 * The instrument that stands in the page from the start; null where there is none. Its data stand beside it.
 * @returns {ReturnType<typeof createPage>|null}
 */
export function createServed() {
  const host = document.querySelector(".served");
  const root = /** @type {HTMLElement|null|undefined} */ (host?.querySelector(".instrument:not(.heading)"));
  const data = host?.querySelector("script")?.textContent;
  if (!host || !root || !data) return null;
  host.addEventListener("pointerdown", () => (held = true));
  host.addEventListener("keydown", () => (touched = performance.now()));
  const lifted = () => {
    if (held) touched = performance.now();
    held = false;
  };
  for (const type of ["pointerup", "pointercancel"]) window.addEventListener(type, lifted, { capture: true });
  const sent = JSON.parse(data);
  return createPage(root, parseMessage(sent.choice), pageReachOf(sent));
}

/**
 * Wait until it may be moved: what stands beside it has found its place, nothing scrolls, no hand is on it.
 */
export async function letGo() {
  const top = () => document.querySelector(".served")?.scrollTop;
  let before;
  do {
    before = top();
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  } while (
    held ||
    performance.now() - touched < REST_MS ||
    before !== top() ||
    document.querySelector(".served dialog[open]")
  );
}

/**
 * Put the served instrument into Streamlit's host for it; the focus stays.
 * @param {Element} served
 * @param {Element} root
 */
export function takeOver(served, root) {
  const focused = /** @type {HTMLElement|null} */ (document.activeElement);
  const scrolled = document.querySelector(".served")?.scrollTop ?? 0;
  root.replaceWith(served);
  const page = served.closest(".stMain");
  if (page) page.scrollTop = scrolled;
  clear(); // which shows the page: before that nothing in it takes the focus
  if (served.contains(focused)) focused?.focus({ preventScroll: true });
}

/** Remove the rest of the served page. */
export function clear() {
  document.querySelector(".served")?.remove();
}
