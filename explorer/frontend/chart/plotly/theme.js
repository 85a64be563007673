// Colours and font of the page around the chart.

/**
 * @typedef {{text: string, ground: string, font: string, type: number}} Theme ``type``: smallest letter height, in px
 */

/** Return the theme of an element. @param {HTMLElement} host @returns {Theme} */
export function themeOf(host) {
  const style = getComputedStyle(host);
  const type = parseFloat(style.getPropertyValue("--smallest-type")) || 0;
  return { text: style.color, ground: style.backgroundColor, font: style.fontFamily, type };
}

/**
 * Call ``changed`` once when the theme differs from the one last drawn in, in the frame of the change.
 *
 * The host's colours have invisibly short transitions, which end or are cancelled whenever the colours change. If the
 * host moves within the page, its colours may change without a transition, but then an animation of it restarts.
 * @param {HTMLElement} host
 * @param {{drawnIn: () => Theme|undefined, changed: () => void}} drawing ``drawnIn``: undefined before the first
 *   drawing, so that the page need not be styled for this before it is shown
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
    const { text, ground } = themeOf(host); // empty outside a page
    if (text && (text !== before.text || ground !== before.ground)) changed();
  }

  for (const type of ["transitionend", "transitioncancel", "animationstart"])
    host.addEventListener(type, onTransition, { signal });
}
