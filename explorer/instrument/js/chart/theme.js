// Colours and font as the page around the chart has them.

/**
 * @typedef {{text: string, ground: string, font: string, type: number}} Theme ``type``: the smallest, in px
 */

/**
 * @param {HTMLElement} host
 * @returns {Theme}
 */
export function themeOf(host) {
  const style = getComputedStyle(host);
  const type = parseFloat(style.getPropertyValue("--smallest-type")) || 0;
  return { text: style.color, ground: style.backgroundColor, font: style.fontFamily, type };
}

/**
 * Be told when the theme changes, however that comes about. The host's colours have a transition of no
 * length that can be seen; it ends whenever they change.
 * @param {HTMLElement} host
 * @param {() => void} changed
 * @param {AbortSignal} signal
 */
export function followTheme(host, changed, signal) {
  const ended = (/** @type {TransitionEvent} */ event) => event.target === host && changed();
  host.addEventListener("transitionend", ended, { signal });
}
