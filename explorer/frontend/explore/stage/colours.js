// The colours of curves for a light or a dark page.

import { followTheme, readHostTheme } from "../../chart/plotly/theme.js";
import { getCatalogue } from "../../choice/entries.js";
import { isDark, readColour } from "../../elements/colours.js";

/**
 * The colour of the op's curve, and those of the rules by slot.
 * @typedef {ReturnType<typeof getCurveColours>} Colours
 */

/** Return the colours of curves for the page's current background. @param {HTMLElement} host */
export function getCurveColours(host) {
  const { light, dark, neutral } = getCatalogue().colours;
  const isOnDark = isDark(readColour(host, "ground"));
  return { neutral, isOnDark, rules: isOnDark ? dark : light };
}

/**
 * Keep the curves' colours up to date. Returns a function that returns them, and one that updates them.
 * @param {HTMLElement} host @param {() => void} changed called after each update, also when the page changes its theme
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
