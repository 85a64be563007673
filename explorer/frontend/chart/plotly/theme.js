// The theme of a chart: the colours and font of the page around it.

/**
 * The colours and font of the page around a chart. ``type``: the minimum font size in px.
 * @typedef {{text: string, ground: string, font: string, type: number}} Theme
 */

/**
 * Return the colours, font and smallest type size of the page around an element.
 * @param {HTMLElement} host @returns {Theme}
 */
export function readHostTheme(host) {
  const style = getComputedStyle(host);
  const type = parseFloat(style.getPropertyValue("--smallest-type")) || 0;
  return { text: style.color, ground: style.backgroundColor, font: style.fontFamily, type };
}

/**
 * Call ``changed`` in the animation frame in which the theme of the page changes, so that a chart is redrawn. The
 * host's colours have invisibly short CSS transitions, whose end reveals a change. If the host moves within the page, a
 * restarting animation reveals it.
 * @param {HTMLElement} host
 * @param {{drawnIn: () => Theme|undefined, changed: () => void}} drawing ``drawnIn``: returns the theme of the last
 *   drawing, undefined before the first, so that the page need not be styled early
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
    const { text, ground } = readHostTheme(host); // empty if the element is not in a document
    if (text && (text !== before.text || ground !== before.ground)) changed();
  }

  for (const type of ["transitionend", "transitioncancel", "animationstart"])
    host.addEventListener(type, onTransition, { signal });
}
