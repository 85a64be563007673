// Describes the children of an element as data and updates its nodes to match. Nodes that stay keep focus, selection,
// scroll position and typed text.

import { getFocused, setAttribute, setValue, writeValue } from "./dom.js";

/**
 * An element as data. Among its attributes, ``key`` identifies it in its list, a name that begins with "on" is a
 * listener, and one that begins with "--" a property of its style.
 * @typedef {{tag: string, attributes: Object<string, *>, children: Child[]}} Part
 * A child: a part, a node made elsewhere, a text, or a list of children. null, undefined, false and "" show nothing.
 * @typedef {Part|Node|string|number|false|null|undefined|readonly *[]} Child
 */

const SVG = "http://www.w3.org/2000/svg";
const OTHERS = ["key", "value", "checked"]; // names that are no attributes of a node
const UNTYPED = ["range", "select-one"]; // fields in which the user types no text
const lastNodes = /** @type {WeakMap<Node, Map<string, Node>>} */ (new WeakMap()); // the children of each host by key
const lastParts = /** @type {WeakMap<EventTarget, Part>} */ (new WeakMap());

/**
 * Return an element as data. A button submits no form unless its type is "submit".
 * @param {string} tag @param {Part["attributes"]} [attributes] @param {...Child} children @returns {Part}
 */
export function h(tag, attributes = {}, ...children) {
  return { tag, attributes: tag === "button" ? { type: "button", ...attributes } : attributes, children };
}

/**
 * Update an element so that it has the given children and no others.
 *
 * A child matches the previous one with the same key or, without a key, the same position, in the same list. An
 * attribute is written when its value changes. Sliders, lists and boxes always get their ``value`` or ``checked``, a
 * field keeps text that the user is typing. A part that is the same object as before is skipped.
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

/** Make nodes the children of an element, in their order. @param {Element|ShadowRoot} host @param {Node[]} nodes */
function placeNodes(host, nodes) {
  const { childNodes } = host;
  const kept = new Set(nodes);
  for (const node of [...childNodes]) if (!kept.has(node)) node.remove();
  const focused = getFocused(host);
  const fixed = [...childNodes].find((node) => node.contains(focused)); // if it moved, it would lose the focus
  nodes.forEach((node, index) => {
    if (node === fixed) while (childNodes[index] !== node) host.append(childNodes[index]);
    else if (childNodes[index] !== node) host.insertBefore(node, childNodes[index] ?? null);
  });
}

/**
 * Return all children of a list and of the lists in it, each with its key.
 * @param {readonly Child[]} children @param {string} [path] of the list @returns {[string, *][]}
 */
function flatten(children, path = "") {
  return children.flatMap((/** @type {*} */ child, index) => {
    if (Array.isArray(child)) return flatten(child, `${path}${index}/`);
    return child || child === 0 ? [[path + (child.attributes?.key ?? index), child]] : [];
  });
}

/**
 * Return the node of a child, which is the previous node if that has the same tag.
 * @param {*} node @param {*} child @param {Element|ShadowRoot} host @returns {*}
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
  const { value } = child.attributes; // set after the bounds of a slider and the options of a list
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
    node.addEventListener(name.slice(2), callListener); // added once, however often called
  else if (name.startsWith("--")) node.style.setProperty(name, value ?? null);
  else if (!OTHERS.includes(name)) setAttribute(node, name, value);
}

/** Call the current listener of an event. @param {Event} event */
function callListener(event) {
  const node = /** @type {EventTarget} */ (event.currentTarget);
  lastParts.get(node)?.attributes[`on${event.type}`]?.(event);
}
