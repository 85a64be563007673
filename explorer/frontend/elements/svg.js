// Creation of SVG elements.

/**
 * Create an SVG element with attributes.
 * @param {string} tag @param {Object<string, string|number>} [attributes] @returns {*}
 */
export function shape(tag, attributes = {}) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}
