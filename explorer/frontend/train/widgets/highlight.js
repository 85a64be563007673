// Highlighting of one rule across the page: the elements of all other rules fade.

import { setAttribute } from "../../elements/dom.js";

const FADED = 0.28; // opacity of faded curves and drawings
const FAINT = 0.66; // opacity of faded text, which must stay readable

/**
 * Highlight the rule that the user points at, focuses or has selected: all others fade. A tap on a chart selects the
 * rule whose curve is highlighted.
 * @param {HTMLElement} host
 * @param {(rule: string|null) => void} [onHighlight] called with the highlighted rule, or null
 */
export function createHighlighting(host, onHighlight = (/** @type {string|null} */ _rule) => undefined) {
  const sheet = new CSSStyleSheet();
  const end = new AbortController();
  // each layer's curves in Plotly's order
  const originalOrder = /** @type {WeakMap<Element, Element[]>} */ (new WeakMap());
  let highlighted = /** @type {string|null} */ (null);
  let heldRule = /** @type {string|null} */ (null);
  document.adoptedStyleSheets.push(sheet);

  /** Highlight a rule or, with null, the selected one if there is any. @param {string|null} rule */
  function highlight(rule) {
    const next = rule ?? heldRule;
    if (next === highlighted) return;
    highlighted = next;
    sheet.replaceSync(next === null ? "" : makeFadingStyle(next));
    onHighlight(next);
    findLayers(host).forEach(raise);
  }

  /** Draw the curves of the highlighted rule in front. @param {Element} layer the element with the curves */
  function raise(layer) {
    const known = originalOrder.get(layer) ?? [];
    const isKnown = known.length === layer.childElementCount && known.every((curve) => layer.contains(curve));
    const order = isKnown ? known : [...layer.children];
    originalOrder.set(layer, order);
    const isHighlighted = (/** @type {Element} */ curve) => curve.getAttribute("data-rule") === highlighted;
    const next = [...order.filter((curve) => !isHighlighted(curve)), ...order.filter(isHighlighted)];
    if (next.some((curve, at) => curve !== layer.children[at])) layer.append(...next);
  }

  /** Keep a rule highlighted until another one is selected, or with null none. @param {string|null} rule */
  function hold(rule) {
    heldRule = rule;
    for (const holder of host.querySelectorAll(".holder"))
      setAttribute(holder, "aria-pressed", String(heldRule !== null && findRule(holder) === heldRule));
    highlight(rule);
  }

  /** @param {(event: *) => void} act @param {...string} names */
  const addListener = (act, ...names) =>
    names.forEach((name) => host.addEventListener(name, act, { signal: end.signal }));
  addListener((event) => event.pointerType !== "touch" && highlight(findRule(event.target)), "pointerover");
  addListener((event) => findLayers(event.target).forEach(raise), "curves");
  addListener((event) => highlight(findRule(event.target)), "focusin");
  // a tap ends with this event too, and keeps its highlight
  addListener((event) => event.pointerType !== "touch" && highlight(null), "pointerleave");
  addListener(() => highlight(null), "focusout", "pointercancel");
  addListener((event) => {
    const isHolder = event.target.closest(".holder") !== null;
    const rule =
      event.target.closest(".chart-host") && !findRule(event.target) ? highlighted : findRule(event.target);
    if (isHolder || event.pointerType === "touch") hold(isHolder && rule === heldRule ? null : rule);
  }, "click");

  return {
    highlight,
    destroy() {
      end.abort();
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    },
  };
}

/** @param {string} rule */
function makeFadingStyle(rule) {
  const other = `[data-rule]:not([data-rule="${CSS.escape(rule)}"])`;
  return `
    .training ${other} { opacity: ${FAINT} !important; } /* Plotly writes its own on each curve */
    .training svg ${other} { opacity: ${FADED} !important; }
    .training .column${other} :is(svg, canvas, i) { opacity: ${FADED / FAINT}; }
    .training .column${other}:has(.stack) { opacity: 1 !important; } /* its greys have a legend */
    .training ${other} .why-of { color: inherit; } /* as dark as what stands beside it */
  `;
}

/** @param {Element} host */
const findLayers = (host) => [...host.querySelectorAll(".scatterlayer")];

/** @param {EventTarget|null} target @returns {string|null} */
function findRule(target) {
  const part = target instanceof Element ? target.closest("[data-rule]") : null;
  return part?.getAttribute("data-rule") || null; // random guessing has no rule
}
