// Creation and update of HTML elements without HTML strings, so that user input is never parsed as markup.

/** The value of an HTML attribute. @typedef {string|number|boolean|null|undefined} Attribute */

const READ_MS = 20_000; // time for the browser to read a saved file
let idCount = 0;
const lastTexts = new WeakMap(); // the text that ``writeValue`` set last in each field

/**
 * Create an HTML element with attributes, event listeners and children. Attributes that are null, undefined or false
 * are omitted; true gives an empty attribute. Names that begin with "on" are listeners. A button submits no form unless
 * its type is "submit".
 * @param {string} tag @param {Object<string, Attribute|((event: *) => void)>} [attributes]
 * @param {...(Node | string)} children @returns {*}
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

/**
 * Set or remove an attribute of an element, unless it has that value already.
 * @param {Element} node @param {string} name @param {Attribute} value
 */
export function setAttribute(node, name, value) {
  const isAbsent = value === null || value === undefined || value === false;
  const text = value === true ? "" : String(value);
  if (isAbsent) node.removeAttribute(name);
  else if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

/** Set the text of an element, unless it has that text already. @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Set the text of an input field, unless the user is typing in it.
 * @param {HTMLInputElement} field @param {string} text
 */
export function setValue(field, text) {
  const isUntouched = [lastTexts.get(field), text].includes(field.value);
  if (isUntouched || getFocused(field) !== field) writeValue(field, text);
}

/** Return the focused element in the document or shadow tree of a node, or null. @param {Node} node */
export function getFocused(node) {
  // undefined if the node is not on a page
  return /** @type {Document|ShadowRoot} */ (node.getRootNode()).activeElement ?? null;
}

/**
 * Set the text of an input field, even while the user is typing in it.
 * @param {HTMLInputElement} field @param {string} text
 */
export function writeValue(field, text) {
  if (field.value !== text) field.value = text;
  lastTexts.set(field, text);
}

/** Run a function with low priority after the next animation frame. @param {() => void} act */
export function runAfterFrame(act) {
  requestAnimationFrame(() => setTimeout(act));
}

/** Download an address as a file. @param {string} href @param {string} name the name of the file */
export function saveAs(href, name) {
  element("a", { href, download: name }).click();
}

/** Save data as a file on the user's computer. @param {Blob} data @param {string} name of the file */
export function saveBlob(data, name) {
  const href = URL.createObjectURL(data);
  saveAs(href, name);
  setTimeout(() => URL.revokeObjectURL(href), READ_MS);
}

/** Return an id that no other element of the document has. */
export function createId() {
  idCount += 1;
  return `instrument-${idCount}`;
}
