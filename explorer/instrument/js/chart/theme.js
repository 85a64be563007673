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
 * Be told when the theme changes, however that comes about: once, in the frame in which it does. The host's
 * colours have transitions of no length that can be seen; they end, or are cut off, whenever they change. Where
 * it is put elsewhere in the page they may be others without one, but then an animation of it begins anew.
 * @param {HTMLElement} host
 * @param {() => void} changed
 * @param {AbortSignal} signal
 */
export function followTheme(host, changed, signal) {
  let frame = 0;
  let known = coloursOf(host);
  const seen = (/** @type {Event} */ event) => {
    if (event.target === host) frame ||= requestAnimationFrame(tell);
  };

  function tell() {
    frame = 0;
    const [before, now] = [known, coloursOf(host)];
    known = now;
    if (!signal.aborted && before && before !== now) changed();
  }

  for (const type of ["transitionend", "transitioncancel", "animationstart"])
    host.addEventListener(type, seen, { signal });
}

/** Letters and ground; nothing outside a page. @param {HTMLElement} host */
function coloursOf(host) {
  const { color, backgroundColor } = getComputedStyle(host);
  return color && `${color} ${backgroundColor}`;
}
