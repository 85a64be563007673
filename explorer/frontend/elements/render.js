// Declarative rendering: an element's children as data, to which its nodes are updated. Nodes that stay keep focus,
// selection, scroll position and typed text.

import { getFocused, setAttribute, setValue, writeValue } from "./dom.js";

/**
 * An element as data. In ``attributes``, ``key`` identifies it among its siblings, "on…" is an event listener, and
 * "--…" a CSS custom property.
 * @typedef {{tag: string, attributes: Object<string, *>, children: Child[]}} Part
 * @typedef {Part|Node|string|number|false|null|undefined|readonly *[]} Child a part, an existing node, text, or a list
 *   of children; null, undefined, false and "" show nothing
 */

const SVG = "http://www.w3.org/2000/svg";
const OTHERS = ["key", "value", "checked"]; // names in ``attributes`` that are not written as attributes
const UNTYPED = ["range", "select-one"]; // types of fields in which nothing is typed
// the rendered nodes of each element, by key
const lastNodes = /** @type {WeakMap<Node, Map<string, Node>>} */ (new WeakMap());
const lastParts = /** @type {WeakMap<EventTarget, Part>} */ (new WeakMap());

/**
 * Return an element as data. A button submits no form unless its type is "submit".
 * @param {string} tag @param {Part["attributes"]} [attributes] @param {...Child} children @returns {Part}
 */
export function h(tag, attributes = {}, ...children) {
  return { tag, attributes: tag === "button" ? { type: "button", ...attributes } : attributes, children };
}

/**
 * Update an element so that it has exactly some children. A child reuses the node with the same key or, without a key,
 * at the same position in its list. Attributes are written when their value changes. Sliders, lists and checkboxes
 * always get their ``value`` or ``checked``; a field keeps text that is being typed. A part that is the same object as
 * before is skipped.
 * @param {Element|ShadowRoot} host @param {...Child} children
 */
export function render(host, ...children) {
  const before = lastNodes.get(host);
  const after = /** @type {Map<string, Node>} */ (new Map());
  for (const [key, child] of flatten(children)) after.set(key, updateNode(before?.get(key), child, host));
  lastNodes.set(host, after);
  const nodes = [...after.values()];
  const { childNodes } = host;
  if (nodes.length !== childNodes.length || nodes.some((node, index) => node !== childNodes[index]))
    placeNodes(host, nodes);
}

/** @param {Element|ShadowRoot} host @param {Node[]} nodes */
function placeNodes(host, nodes) {
  const { childNodes } = host;
  const kept = new Set(nodes);
  for (const node of [...childNodes]) if (!kept.has(node)) node.remove();
  const focused = getFocused(host);
  // keep the focused node in place, since moving it would lose the focus
  const fixed = [...childNodes].find((node) => node.contains(focused));
  nodes.forEach((node, index) => {
    if (node === fixed) while (childNodes[index] !== node) host.append(childNodes[index]);
    else if (childNodes[index] !== node) host.insertBefore(node, childNodes[index] ?? null);
  });
}

/** @param {readonly Child[]} children @param {string} [path] prefix of the keys in the list @returns {[string, *][]} */
function flatten(children, path = "") {
  return children.flatMap((/** @type {*} */ child, index) => {
    if (Array.isArray(child)) return flatten(child, `${path}${index}/`);
    return child || child === 0 ? [[path + (child.attributes?.key ?? index), child]] : [];
  });
}

/**
 * Return the node that shows a child: the previous node if it has the same tag, otherwise a new one.
 * @param {*} node the previous node, or undefined @param {*} child @param {Element|ShadowRoot} host @returns {*}
 */
function updateNode(node, child, host) {
  if (child instanceof Node) return child;
  if (!child.tag) {
    const text = node instanceof Text ? node : document.createTextNode("");
    if (text.data !== String(child)) text.data = String(child);
    return text;
  }
  const previous = lastParts.get(node);
  if (previous === child) return node;
  const last = previous?.tag === child.tag ? previous : null;
  const target = last ? node : createNode(child.tag, host);
  updateAttributes(target, last?.attributes ?? {}, child.attributes);
  lastParts.set(target, child);
  render(target, ...child.children);
  if ("checked" in child.attributes) target.checked = child.attributes.checked;
  const { value } = child.attributes; // the value comes last: it depends on a slider's bounds or a list's options
  if (value !== undefined && UNTYPED.includes(target.type)) writeValue(target, String(value));
  else if (value !== last?.attributes.value) setValue(target, String(value));
  return target;
}

/** @param {string} tag @param {*} host */
function createNode(tag, host) {
  const space = tag === "svg" ? SVG : (host.namespaceURI ?? document.documentElement.namespaceURI);
  return document.createElementNS(space, tag);
}

/** @param {*} node @param {Part["attributes"]} before @param {Part["attributes"]} attributes */
function updateAttributes(node, before, attributes) {
  for (const name in attributes)
    if (attributes[name] !== before[name]) writeAttribute(node, name, attributes[name]);
  for (const name in before) if (!(name in attributes)) writeAttribute(node, name, null);
}

/** @param {*} node @param {string} name @param {*} value */
function writeAttribute(node, name, value) {
  if (name.startsWith("on"))
    node.addEventListener(name.slice(2), callListener); // a repeated call has no effect
  else if (name.startsWith("--")) node.style.setProperty(name, value ?? null);
  else if (!OTHERS.includes(name)) setAttribute(node, name, value);
}

/** @param {Event} event */
function callListener(event) {
  const node = /** @type {EventTarget} */ (event.currentTarget);
  lastParts.get(node)?.attributes[`on${event.type}`]?.(event);
}
