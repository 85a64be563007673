// Pointing at a rule anywhere lifts it everywhere: what carries another rule's ``data-rule`` fades.

import { setAttribute } from "../../elements/dom.js";

const FADED = 0.28; // of curves and pictures
const FAINT = 0.66; // of what has letters: they stay as dark as they must be to be read

/**
 * Lift the rule that is pointed at in a host, has the focus, or is held by a tap
 * or a press on its name in the table; nothing is drawn anew. Where a chart has lifted
 * the rule of a curve nearby, a tap holds that.
 * @param {HTMLElement} host
 * @param {(rule: string|null) => void} [onLift] gets the rule that is lifted, null for none
 */
export function createLift(host, onLift = (/** @type {string|null} */ _rule) => undefined) {
  const sheet = new CSSStyleSheet();
  const end = new AbortController();
  const usual = /** @type {WeakMap<Element, Element[]>} */ (new WeakMap()); // orders of curves
  let lifted = /** @type {string|null} */ (null);
  let held = /** @type {string|null} */ (null);
  document.adoptedStyleSheets.push(sheet);

  /** @param {string|null} rule */
  function lift(rule) {
    const next = rule ?? held;
    if (next === lifted) return;
    lifted = next;
    sheet.replaceSync(next === null ? "" : fading(next));
    onLift(next);
    for (const layer of layersIn(host)) {
      layer.append(...(usual.get(layer) ?? []));
      raise(layer);
    }
  }

  /** Draw the curves of the lifted rule over the others of their chart. @param {Element} layer in its usual order */
  function raise(layer) {
    usual.set(layer, [...layer.children]);
    layer.append(...[...layer.children].filter((curve) => curve.getAttribute("data-rule") === lifted));
  }

  /** Lift a rule until another is held, or none. @param {string|null} rule */
  function hold(rule) {
    held = rule;
    for (const holder of host.querySelectorAll(".holder"))
      setAttribute(holder, "aria-pressed", String(held !== null && ruleAt(holder) === held));
    lift(rule);
  }

  /** @param {(event: *) => void} act @param {...string} names */
  const on = (act, ...names) =>
    names.forEach((name) => host.addEventListener(name, act, { signal: end.signal }));
  on((event) => event.pointerType !== "touch" && lift(ruleAt(event.target)), "pointerover");
  on((event) => layersIn(event.target).forEach(raise), "curves");
  on((event) => lift(ruleAt(event.target)), "focusin");
  on((event) => event.pointerType !== "touch" && lift(null), "pointerleave"); // a finger leaves with each tap
  on(() => lift(null), "focusout", "pointercancel");
  on((event) => {
    const isHolder = event.target.closest(".holder") !== null;
    const rule = event.target.closest(".chart-host") && !ruleAt(event.target) ? lifted : ruleAt(event.target);
    if (isHolder || event.pointerType === "touch") hold(isHolder && rule === held ? null : rule);
  }, "click");

  return {
    lift,
    destroy() {
      end.abort();
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    },
  };
}

/**
 * Curves are marked one by one, in an SVG; a picture stands in the column of its rule, which fades as well.
 * @param {string} rule
 */
function fading(rule) {
  const other = `[data-rule]:not([data-rule="${CSS.escape(rule)}"])`;
  return `
    .training ${other} { opacity: ${FAINT} !important; } /* Plotly writes its own on each curve */
    .training svg ${other} { opacity: ${FADED} !important; }
    .training .column${other} :is(svg, canvas, i) { opacity: ${FADED / FAINT}; }
    .training ${other} .why-of { color: inherit; } /* as dark as what stands beside it */
  `;
}

/** The places of curves in charts. @param {Element} host */
const layersIn = (host) => [...host.querySelectorAll(".scatterlayer")];

/** @param {EventTarget|null} target @returns {string|null} */
function ruleAt(target) {
  const part = target instanceof Element ? target.closest("[data-rule]") : null;
  return part?.getAttribute("data-rule") ?? null;
}
