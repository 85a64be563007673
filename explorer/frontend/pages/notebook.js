// A widget in a notebook's cell: put into a shadow tree, whose keys, wheel and colours are its own.

import { createKernelAsk } from "../asking/ask-kernel.js";
import { setDocument } from "../choice/entries.js";
import { element } from "../elements/dom.js";
import { coloursOf } from "../explore/page/instrument.js";
import { mountInstrument } from "./notebook-instrument.js";
import { mountTraining } from "./notebook-training.js";

/**
 * What is in a cell: ``place`` is empty, ``model`` has the traits; without a kernel ``ask`` is null.
 * @typedef {{model: *, place: HTMLElement, plotly: Promise<*>, ask: import("../asking/ask.js").Ask|null,
 *   library: Library}} Cell
 * @typedef {{css: string, skeleton: string, document: *, sections: Record<string, string>, saved: string[],
 *   languages: string[], notebook: string}} Library what Python packed for all cells
 * @typedef {(cell: Cell) => {destroy: () => void}} Mount fills the place of a cell
 */

/** @type {Record<string, Mount>} */
const KINDS = { instrument: mountInstrument, training: mountTraining };

/** Set up once for a page. @param {Library} library @param {Promise<*>} plotly */
export function begin(library, plotly) {
  setDocument(library.document);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(library.css);
  const plotlySheet = plotly.then(copyPlotlySheet);

  /** @param {{model: *, el: HTMLElement, begun: number, live: boolean}} cell */
  function mount({ model, el, begun, live }) {
    const host = element("div", { class: "gradient-explorer", "data-jp-suppress-context-menu": true });
    const root = host.attachShadow({ mode: "open" });
    const place = element("div", { class: "place", style: `--cell-height: ${model.get("height")}px` });
    root.adoptedStyleSheets = [sheet];
    void plotlySheet.then((more) => (root.adoptedStyleSheets = [sheet, more]));
    root.append(place);
    root.addEventListener(
      "drawn",
      () => (host.dataset.drawn ??= String(Math.round(performance.now() - begun))),
    );
    el.append(host);
    const end = keepInput(host, place);
    const ask = live ? createKernelAsk(model, end.signal) : null;
    const part = KINDS[model.get("_kind")]({ model, place, plotly, ask, library });
    followScheme(place, end.signal);
    followStill(el, model, end.signal);
    return () => {
      end.abort();
      part.destroy();
      host.remove();
    };
  }

  return { mount };
}

/** Have native controls light or dark as the notebook's theme is. @param {HTMLElement} place @param {AbortSignal} signal */
function followScheme(place, signal) {
  const whole = /** @type {HTMLElement} */ (place.firstElementChild);
  const show = () => (place.style.colorScheme = coloursOf(whole).isOnDark ? "dark" : "light");
  whole.addEventListener("transitionend", show, { signal }); // the theme has changed
  show();
}

/**
 * Keep keys within: for the notebook a letter may delete a cell. Those with a modifier and Shift+Enter are the
 * notebook's, and the wheel scrolls it unless the focus is within.
 * @param {HTMLElement} host
 * @param {HTMLElement} place
 */
function keepInput(host, place) {
  const end = new AbortController();
  const { signal } = end;
  const isTheirs = (/** @type {*} */ { ctrlKey, metaKey, altKey, shiftKey, key }) =>
    ctrlKey || metaKey || altKey || (shiftKey && key === "Enter");
  const suppress = (/** @type {Event} */ event) =>
    host.toggleAttribute("data-lm-suppress-shortcuts", !isTheirs(event)); // JupyterLab's commands look for it
  host.addEventListener("keydown", suppress, { capture: true, signal });
  for (const type of ["keydown", "keypress", "keyup"])
    host.addEventListener(type, (event) => !isTheirs(event) && event.stopPropagation(), { signal });
  const scroll = (/** @type {WheelEvent} */ event) => {
    if (!event.ctrlKey && !place.matches(":focus-within")) event.stopPropagation();
  };
  host.addEventListener("wheel", scroll, { capture: true, signal });
  return end;
}

/** Hide the output before a widget that is its picture, as long as it is live. @param {HTMLElement} el @param {*} model @param {AbortSignal} signal */
function followStill(el, model, signal) {
  let hidden = /** @type {HTMLElement|null} */ (null);
  const show = () => hidden && (hidden.style.display = "");
  function hide() {
    if (signal.aborted) return;
    show();
    const tail = model.get("_still");
    for (let at = /** @type {Element|null} */ (tail ? el : null), up = 0; at && up < 8; up += 1) {
      const before = /** @type {HTMLElement|null} */ (at.previousElementSibling);
      if (before?.querySelector(`img[src$="${CSS.escape(tail)}"]`))
        return void ((hidden = before).style.display = "none");
      at = at.parentElement;
    }
  }
  const later = () => requestAnimationFrame(hide);
  later();
  model.on("change:_still", later);
  signal.addEventListener("abort", () => {
    model.off("change:_still", later);
    show();
  });
}

/** Plotly's rules are in the document's head, which a shadow tree does not see. */
function copyPlotlySheet() {
  const sheet = new CSSStyleSheet();
  const own = /** @type {HTMLStyleElement|null} */ (document.getElementById("plotly.js-style-global"));
  sheet.replaceSync([...(own?.sheet?.cssRules ?? [])].map((rule) => rule.cssText).join("\n"));
  return sheet;
}
