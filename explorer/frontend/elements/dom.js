// Elements of the page, made without markup in strings: what a user wrote is text and nothing else.

/** @typedef {string|number|boolean|null|undefined} Attribute */

let made = 0;
const written = new WeakMap(); // field -> the last text set

/**
 * A new element. An attribute that is null, undefined or false is left out; true is an empty one.
 * Names that begin with "on" are listeners. A button sends no form unless its type says so.
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

/**
 * Set, change or take away an attribute, and only where it differs.
 * @param {Element} node
 * @param {string} name
 * @param {Attribute} value
 */
export function setAttribute(node, name, value) {
  const gone = value === null || value === undefined || value === false;
  const text = value === true ? "" : String(value);
  if (gone) node.removeAttribute(name);
  else if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

/** Set the text of an element, and only where it differs. @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Set the text of a field, unless another one is being typed into it.
 * @param {HTMLInputElement} field
 * @param {string} text
 */
export function setValue(field, text) {
  const known = [written.get(field), text].includes(field.value);
  if (known || focusedNear(field) !== field) writeValue(field, text);
}

/** The element that has the focus in the tree of a node: of the document, or of a shadow tree. @param {Node} node */
export function focusedNear(node) {
  return /** @type {Document|ShadowRoot} */ (node.getRootNode()).activeElement ?? null; // none in what is not in a page
}

/** Set what a field shows, whatever is typed in it. @param {HTMLInputElement} field @param {string} text */
export function writeValue(field, text) {
  if (field.value !== text) field.value = text;
  written.set(field, text);
}

/** Do what nobody waits for, once the next frame is on the screen. @param {() => void} act */
export function afterFrame(act) {
  requestAnimationFrame(() => setTimeout(act));
}

/** Have the browser save an address as a file. @param {string} href @param {string} name */
export function saveAs(href, name) {
  element("a", { href, download: name }).click();
}

/** A name for an element that nothing else in the document has. */
export function freshId() {
  made += 1;
  return `instrument-${made}`;
}
