// Keyboard shortcuts of the whole page.

const FIELDS = "input:not([type=range], [type=checkbox]), textarea, select, [contenteditable], dialog";

/**
 * Call a function whenever a key is pressed without modifiers, except in text fields.
 * @param {string} key the event's ``key``, in lower case @param {(event: KeyboardEvent) => void} turn the function
 * @param {AbortSignal} signal a signal that ends the calls
 * @param {Element} [root] an element to whose shadow tree the shortcut is limited, if it is in one
 * @param {boolean} [withControl] whether Control, or Command on a Mac, must be held
 */
export function followKey(key, turn, signal, root, withControl = false) {
  const source = root?.getRootNode() instanceof ShadowRoot ? root : window;
  source.addEventListener(
    "keydown",
    (/** @type {*} */ event) => {
      const { target, ctrlKey, metaKey, altKey } = event;
      if (event.key.toLowerCase() !== key || (ctrlKey || metaKey) !== withControl || altKey) return;
      const [inner] = event.composedPath();
      if ([target, inner].some((each) => each instanceof Element && each.closest(FIELDS))) return;
      event.preventDefault();
      turn(event);
    },
    { signal },
  );
}
