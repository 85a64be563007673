// Colours and font as the page around the chart has them.

/**
 * @typedef {{text: string, ground: string, font: string, type: number}} Theme ``type``: the smallest, in px
 */

/** @param {HTMLElement} host @returns {Theme} */
export function themeOf(host) {
  const style = getComputedStyle(host);
  const type = parseFloat(style.getPropertyValue("--smallest-type")) || 0;
  return { text: style.color, ground: style.backgroundColor, font: style.fontFamily, type };
}

/**
 * Be told when the theme is no longer the one that was drawn in, however that comes about: once, in the frame in
 * which it changes. The host's colours have transitions of no length that can be seen; they end, or are cut off,
 * whenever they change. Where it is put elsewhere in the page they may be others without one, but then an
 * animation of it begins anew.
 * @param {HTMLElement} host
 * @param {{drawnIn: () => Theme|undefined, changed: () => void}} drawing ``drawnIn``: nothing as long as nothing
 *   is drawn, which is why the page need not be styled for this before it is shown
 * @param {AbortSignal} signal
 */
export function followTheme(host, { drawnIn, changed }, signal) {
  let frame = 0;
  const onTransition = (/** @type {Event} */ event) => {
    if (event.target === host) frame ||= requestAnimationFrame(tell);
  };

  function tell() {
    frame = 0;
    const before = drawnIn();
    if (signal.aborted || !before) return;
    const { text, ground } = themeOf(host); // nothing outside a page
    if (text && (text !== before.text || ground !== before.ground)) changed();
  }

  for (const type of ["transitionend", "transitioncancel", "animationstart"])
    host.addEventListener(type, onTransition, { signal });
}
