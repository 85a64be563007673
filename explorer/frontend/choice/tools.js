// Which of the Train page's tools are open: set by the link, or remembered from the last visit.

import { loadFromBrowser, saveInBrowser } from "./session.js";

/** @import { Choice } from "./choice.js" */
/** Which tools are open, see ``View``. @typedef {import("./view.js").View["tools"]} Tools */

const STORAGE_KEY = "all-tools";

/**
 * Return which tools of the page are open, from the link or from the user's last visit.
 * @param {Choice} choice @returns {string}
 */
export function getOpenTools({ tools }) {
  const last = loadFromBrowser(STORAGE_KEY);
  return tools || (last === true ? "all" : typeof last === "string" ? last : "");
}

/**
 * Open tools of the Train page, and remember this for the next visit.
 * @param {import("./store.js").Store} store @param {string} tools "all", one tool's name, or ""
 */
export function setOpenTools(store, tools) {
  saveInBrowser(STORAGE_KEY, tools === "all" ? true : tools);
  store.change({ ...store.current, tools });
}
