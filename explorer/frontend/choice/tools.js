// Whether all tools are open: chosen in the link, or remembered by the browser.

import { recall, remember } from "./session.js";

/** @import { Choice } from "./choice.js" */
/** @typedef {import("./view.js").View["tools"]} Tools */

const REMEMBERED = "all-tools";

/** The tools that are open: those of the link, or what was chosen last. @param {Choice} choice @returns {string} */
export function openTools({ tools }) {
  const last = recall(REMEMBERED);
  return tools || (last === true ? "all" : typeof last === "string" ? last : "");
}

/** Have a store choose tools, and the browser remember them. @param {import("./store.js").Store} store @param {string} tools */
export function chooseTools(store, tools) {
  remember(REMEMBERED, tools === "all" ? true : tools);
  store.change({ ...store.now, tools });
}
