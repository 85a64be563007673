// The theme of a chart: the colours and the font of the page around it.

/**
 * @typedef {{text: string, ground: string, font: string, type: number}} Theme ``type``: smallest letter height, in px
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
 * Call a function when the page's colours change, so that a chart is redrawn. ``changed`` is called once, in the
 * animation frame of the change, if the theme differs from that of the last drawing. The host's colours have invisibly
 * short transitions, which end or are cancelled whenever the colours change. If the host moves within the page, its
 * colours may change without a transition, but then an animation of the host restarts.
 * @param {HTMLElement} host
 * @param {{drawnIn: () => Theme|undefined, changed: () => void}} drawing ``drawnIn``: undefined before the first
 *   drawing, so that the page need not be styled for this before it is shown @param {AbortSignal} signal
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
    const { text, ground } = readHostTheme(host); // both are empty if the element is not in a document
    if (text && (text !== before.text || ground !== before.ground)) changed();
  }

  for (const type of ["transitionend", "transitioncancel", "animationstart"])
    host.addEventListener(type, onTransition, { signal });
}
