// Whether all tools are open: chosen in the link, or remembered by the browser; key E turns them.

import { recall, remember } from "./session.js";

/** @import { Choice } from "./choice.js" */
/** @typedef {import("./view.js").View["tools"]} Tools */

const REMEMBERED = "all-tools";
const KEY = "e";
const FIELDS = "input:not([type=range]), textarea, select, [contenteditable], dialog";

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

/** Call ``turn`` when key E is pressed where nobody types. @param {() => void} turn @param {AbortSignal} signal */
export function followKey(turn, signal) {
  addEventListener(
    "keydown",
    (event) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      if (key.toLowerCase() !== KEY || ctrlKey || metaKey || altKey) return;
      const [inner] = event.composedPath();
      if ([target, inner].some((each) => each instanceof Element && each.closest(FIELDS))) return;
      event.preventDefault();
      turn();
    },
    { signal },
  );
}
