// Elements of the page, created without markup in strings: user input is only ever text.

/** @typedef {string|number|boolean|null|undefined} Attribute */

let idCount = 0;
const lastTexts = new WeakMap(); // the last text set, by field

/**
 * Create an element. Attributes that are null, undefined or false are omitted; true gives an empty attribute. Names
 * that begin with "on" are listeners. A button submits no form unless its type is "submit".
 * @param {string} tag
 * @param {Object<string, Attribute|((event: *) => void)>} [attributes]
 * @param {...(Node | string)} children
 * @returns {*}
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  if (tag === "button") node.setAttribute("type", "button");
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else setAttribute(node, name, value);
  }
  node.append(...children);
  return node;
}

/** Set or remove an attribute if it differs. @param {Element} node @param {string} name @param {Attribute} value */
export function setAttribute(node, name, value) {
  const isAbsent = value === null || value === undefined || value === false;
  const text = value === true ? "" : String(value);
  if (isAbsent) node.removeAttribute(name);
  else if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

/** Set the text of an element if it differs. @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Set the text of a field, unless the user is typing another one.
 * @param {HTMLInputElement} field
 * @param {string} text
 */
export function setValue(field, text) {
  const isUntouched = [lastTexts.get(field), text].includes(field.value);
  if (isUntouched || getFocused(field) !== field) writeValue(field, text);
}

/** Return the focused element in the tree of a node: the document or a shadow tree. @param {Node} node */
export function getFocused(node) {
  return /** @type {Document|ShadowRoot} */ (node.getRootNode()).activeElement ?? null; // undefined outside a page
}

/** Set the text of a field, even while the user is typing. @param {HTMLInputElement} field @param {string} text */
export function writeValue(field, text) {
  if (field.value !== text) field.value = text;
  lastTexts.set(field, text);
}

/** Run a function of low priority after the next frame. @param {() => void} act */
export function runAfterFrame(act) {
  requestAnimationFrame(() => setTimeout(act));
}

/** Download an address as a file. @param {string} href @param {string} name */
export function saveAs(href, name) {
  element("a", { href, download: name }).click();
}

/** Return an id that is unique in the document. */
export function createId() {
  idCount += 1;
  return `instrument-${idCount}`;
}
