// Formulas in MathML, made of data.

const MATHML = "http://www.w3.org/1998/Math/MathML";

/**
 * @typedef {*} MathData the name of an element, its attributes if it has some, and its content: elements
 *   and texts
 */

/** The elements of a formula. @param {MathData} data @returns {Element} */
export function mathElement([name, ...rest]) {
  const made = document.createElementNS(MATHML, name);
  const hasAttributes = rest[0] !== undefined && typeof rest[0] !== "string" && !Array.isArray(rest[0]);
  const [attributes, parts] = hasAttributes ? [rest[0], rest.slice(1)] : [{}, rest];
  for (const [key, value] of Object.entries(attributes))
    made.setAttribute(key, /** @type {string} */ (value));
  made.append(
    ...parts.map((/** @type {MathData} */ part) => (typeof part === "string" ? part : mathElement(part))),
  );
  return made;
}
