// The colours of curves for a light or a dark page.

import { followTheme, readHostTheme } from "../../chart/plotly/theme.js";
import { getCatalogue } from "../../choice/entries.js";
import { isDark, readColour } from "../../elements/colours.js";

/** The colours of the op's curve and of the rules by slot. @typedef {ReturnType<typeof getCurveColours>} Colours */

/** Return the colours of curves for the present background of the page. @param {HTMLElement} host */
export function getCurveColours(host) {
  const { light, dark, neutral } = getCatalogue().colours;
  const isOnDark = isDark(readColour(host, "ground"));
  return { neutral, isOnDark, rules: isOnDark ? dark : light };
}

/**
 * Keep the colours of curves up to date. ``colours`` returns the latest ones; ``refresh`` reads them again.
 * @param {HTMLElement} host @param {() => void} changed called after each update, also by a change of the page's theme
 * @param {AbortSignal} signal
 */
export function followColours(host, changed, signal) {
  let current = getCurveColours(host);
  let theme = readHostTheme(host);
  const refresh = () => {
    theme = readHostTheme(host);
    current = getCurveColours(host);
    changed();
  };
  followTheme(host, { drawnIn: () => theme, changed: refresh }, signal);
  return { colours: () => current, refresh };
}
