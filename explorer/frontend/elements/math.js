// Display of formulas as MathML elements.

const MATHML = "http://www.w3.org/1998/Math/MathML";

/**
 * @typedef {*} MathData the name of an element, optionally its attributes, and its content: elements
 *   and texts
 */

/** Create the MathML elements of a formula. @param {MathData} data @returns {Element} */
export function createMath([name, ...rest]) {
  const node = document.createElementNS(MATHML, name);
  const hasAttributes = rest[0] !== undefined && typeof rest[0] !== "string" && !Array.isArray(rest[0]);
  const [attributes, parts] = hasAttributes ? [rest[0], rest.slice(1)] : [{}, rest];
  for (const [key, value] of Object.entries(attributes))
    node.setAttribute(key, /** @type {string} */ (value));
  node.append(
    ...parts.map((/** @type {MathData} */ part) => (typeof part === "string" ? part : createMath(part))),
  );
  return node;
}
