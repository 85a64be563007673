// Reads the colours of tokens.css, for canvases and charts.

import { element } from "./dom.js";

/** @typedef {[number, number, number]} Colour red, green and blue, from 0 to 255 */

/**
 * Parse a colour in the syntax of CSS: "#2f7fd6", "rgb(16, 22, 29)" or "color(srgb 0.1 0.2 0.3)".
 * @param {string} text @returns {Colour}
 */
export function parseColour(text) {
  const parts = text.startsWith("#")
    ? (text.slice(1).match(/../g) ?? []).map((pair) => parseInt(pair, 16))
    : (text.match(/[\d.]+/g) ?? []).map((part) => (text.startsWith("color") ? 255 : 1) * Number(part));
  const [red = 255, green = 255, blue = 255] = parts.map(Math.round);
  return [red, green, blue];
}

/**
 * Return a mixture of two colours.
 * @param {Colour} one @param {Colour} other @param {number} part fraction of ``other`` @returns {Colour}
 */
export function blendColours(one, other, part) {
  const [red, green, blue] = one.map((value, i) => Math.round(value + part * (other[i] - value)));
  return [red, green, blue];
}

/** Return whether a colour is dark. @param {Colour} colour */
export const isDark = ([red, green, blue]) => 0.299 * red + 0.587 * green + 0.114 * blue < 128;

/**
 * Return the colour that a token has at an element. This makes the browser compute styles.
 * @param {Element} host @param {string} token its name, such as "positive"
 */
export function readColour(host, token) {
  const probe = element("i", { style: `display: none; color: var(--${token})` });
  host.append(probe);
  const colour = parseColour(getComputedStyle(probe).color);
  probe.remove();
  return colour;
}

const known = /** @type {Map<string, string>} */ (new Map());

/**
 * Return the colour of a token that is equal in both themes. It is read only once.
 * @param {Element} host an element of the page @param {string} token
 */
export function readFixedColour(host, token) {
  const text = known.get(token) ?? getComputedStyle(host).getPropertyValue(`--${token}`).trim();
  if (text) known.set(token, text);
  return parseColour(text);
}
