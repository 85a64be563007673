// Explore as it came with the page: drawn while Streamlit is still loading, which then takes it over.

import { createPage } from "./page.js";

/**
 * The instrument that stands in the page from the start; null where there is none. Its data stand beside it.
 * @returns {ReturnType<typeof createPage>|null}
 */
export function createServed() {
  const host = document.querySelector(".served");
  const place = /** @type {HTMLElement|null|undefined} */ (host?.querySelector(".instrument:not(.heading)"));
  const data = host?.querySelector("script")?.textContent;
  return host && place && data ? createPage(place, JSON.parse(data)) : null;
}

/**
 * Put what was served into the place that Streamlit has for it; what has the focus keeps it.
 * @param {Element} served
 * @param {Element} place
 */
export function takeOver(served, place) {
  const parent = /** @type {*} */ (place.parentNode);
  const focused = /** @type {HTMLElement|null} */ (document.activeElement);
  if (parent.moveBefore) parent.moveBefore(served, place);
  else parent.insertBefore(served, place);
  place.remove();
  if (served.contains(focused)) focused?.focus({ preventScroll: true });
  clear();
}

/** Take away what is left of what was served. */
export function clear() {
  document.querySelector(".served")?.remove();
}
