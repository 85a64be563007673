// Which of a page's tools are open: set by the link. All tools are also remembered, on each page and for the next visit.

import { loadFromBrowser, saveInBrowser } from "./session.js";

/** @import { Choice } from "./choice.js" */

const STORAGE_KEY = "all-tools";

/**
 * Return the open tools of a page, from the link or else from the user's last visit if all were open.
 * @param {Choice} choice @returns {string}
 */
export function getOpenTools({ tools }) {
  return tools || (loadFromBrowser(STORAGE_KEY) === true ? "all" : "");
}

/**
 * Open tools of the page, and remember for the next visit whether these are all.
 * @param {import("./store.js").Store} store @param {string} tools "all", the name of one tool, or ""
 */
export function setOpenTools(store, tools) {
  saveInBrowser(STORAGE_KEY, tools === "all");
  store.change({ ...store.current, tools });
}
