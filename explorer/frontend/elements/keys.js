// Single keys that do something anywhere on a page.

const FIELDS = "input:not([type=range], [type=checkbox]), textarea, select, [contenteditable], dialog";

/**
 * Call ``turn`` when a key is pressed alone where nobody types.
 * @param {string} key in lower case, as an event names it
 * @param {() => void} turn
 * @param {AbortSignal} signal
 * @param {Element} [root] of what the key is for: in a shadow tree keys from elsewhere are not its own
 */
export function followKey(key, turn, signal, root) {
  const source = root?.getRootNode() instanceof ShadowRoot ? root : window;
  source.addEventListener(
    "keydown",
    (/** @type {*} */ event) => {
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
