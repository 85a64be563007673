// The open tools: set in the link, or remembered by the browser.

import { loadFromBrowser, saveInBrowser } from "./session.js";

/** @import { Choice } from "./choice.js" */
/** @typedef {import("./view.js").View["tools"]} Tools */

const STORAGE_KEY = "all-tools";

/** Return the tools that are open: as set in the link, or as last chosen. @param {Choice} choice @returns {string} */
export function getOpenTools({ tools }) {
  const last = loadFromBrowser(STORAGE_KEY);
  return tools || (last === true ? "all" : typeof last === "string" ? last : "");
}

/** Set the open tools in a store and in the browser. @param {import("./store.js").Store} store @param {string} tools */
export function setOpenTools(store, tools) {
  saveInBrowser(STORAGE_KEY, tools === "all" ? true : tools);
  store.change({ ...store.current, tools });
}
