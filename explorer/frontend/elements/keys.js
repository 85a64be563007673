// Single keys that do something anywhere on a page.

const FIELDS = "input:not([type=range]), textarea, select, [contenteditable], dialog";

/**
 * Call ``turn`` when a key is pressed alone where nobody types.
 * @param {string} key in lower case, as an event names it
 * @param {() => void} turn
 * @param {AbortSignal} signal
 */
export function followKey(key, turn, signal) {
  addEventListener(
    "keydown",
    (event) => {
      const { target, ctrlKey, metaKey, altKey } = event;
      if (event.key.toLowerCase() !== key || ctrlKey || metaKey || altKey) return;
      const [inner] = event.composedPath();
      if ([target, inner].some((each) => each instanceof Element && each.closest(FIELDS))) return;
      event.preventDefault();
      turn();
    },
    { signal },
  );
}
