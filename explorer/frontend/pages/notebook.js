// A widget in a notebook's cell, in a shadow tree that isolates its keys, wheel events and colours.

import { createKernelAsk } from "../asking/ask-kernel.js";
import { setDocument } from "../choice/entries.js";
import { element } from "../elements/dom.js";
import { coloursOf } from "../explore/page/instrument.js";
import { mountInstrument } from "./notebook-instrument.js";
import { mountTraining } from "./notebook-training.js";

/**
 * The contents of a cell: ``place`` is empty, ``model`` has the traits; without a kernel ``ask`` is null.
 * @typedef {{model: *, place: HTMLElement, plotly: Promise<*>, ask: import("../asking/ask.js").Ask|null,
 *   library: Library}} Cell
 * @typedef {{css: string, skeleton: string, document: *, sections: Record<string, string>, saved: string[],
 *   languages: string[], notebook: string}} Library the data that Python packed for all cells
 * @typedef {(cell: Cell) => {destroy: () => void}} Mount fills the place of a cell
 */

/** @type {Record<string, Mount>} */
const KINDS = { instrument: mountInstrument, training: mountTraining };

/**
 * Set up a page once; return the function that mounts its cells.
 * @param {Library} library
 * @param {Promise<*>} plotly
 */
export function begin(library, plotly) {
  setDocument(library.document);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(library.css);
  const plotlySheet = plotly.then(copyPlotlySheet);

  /**
   * Mount a widget in a cell; return a function that removes it.
   * @param {{model: *, el: HTMLElement, begun: number, live: boolean}} cell
   */
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
    hideImage(el, model, end.signal);
    return () => {
      end.abort();
      part.destroy();
      host.remove();
    };
  }

  return { mount };
}

/**
 * Keep the colour scheme of native controls in line with the notebook's theme.
 * @param {HTMLElement} place
 * @param {AbortSignal} signal
 */
function followScheme(place, signal) {
  const root = /** @type {HTMLElement} */ (place.firstElementChild);
  const show = () => (place.style.colorScheme = coloursOf(root).isOnDark ? "dark" : "light");
  root.addEventListener("transitionend", show, { signal }); // the theme has changed
  show();
}

/**
 * Keep keys and wheel events in the cell: in notebooks a single letter may delete a cell. Keys with a modifier and
 * Shift+Enter go to the notebook, and the wheel scrolls it unless the focus is in the cell.
 * @param {HTMLElement} host
 * @param {HTMLElement} place
 */
function keepInput(host, place) {
  const end = new AbortController();
  const { signal } = end;
  const isForNotebook = (/** @type {*} */ { ctrlKey, metaKey, altKey, shiftKey, key }) =>
    ctrlKey || metaKey || altKey || (shiftKey && key === "Enter");
  const suppress = (/** @type {Event} */ event) =>
    host.toggleAttribute("data-lm-suppress-shortcuts", !isForNotebook(event)); // read by JupyterLab
  host.addEventListener("keydown", suppress, { capture: true, signal });
  for (const type of ["keydown", "keypress", "keyup"])
    host.addEventListener(type, (event) => !isForNotebook(event) && event.stopPropagation(), { signal });
  const scroll = (/** @type {WheelEvent} */ event) => {
    if (!event.ctrlKey && !place.matches(":focus-within")) event.stopPropagation();
  };
  host.addEventListener("wheel", scroll, { capture: true, signal });
  return end;
}

/**
 * Hide the image of the widget in the output before it while the widget is live.
 * @param {HTMLElement} el
 * @param {*} model
 * @param {AbortSignal} signal
 */
function hideImage(el, model, signal) {
  let output = /** @type {HTMLElement|null} */ (null);
  const show = () => output && (output.style.display = "");
  function hide() {
    if (signal.aborted) return;
    show();
    const tail = model.get("_image_end");
    for (let at = /** @type {Element|null} */ (tail ? el : null), up = 0; at && up < 8; up += 1) {
      const before = /** @type {HTMLElement|null} */ (at.previousElementSibling);
      if (before?.querySelector(`img[src$="${CSS.escape(tail)}"]`))
        return void ((output = before).style.display = "none");
      at = at.parentElement;
    }
  }
  const hideLater = () => requestAnimationFrame(hide);
  hideLater();
  model.on("change:_image_end", hideLater);
  signal.addEventListener("abort", () => {
    model.off("change:_image_end", hideLater);
    show();
  });
}

/**
 * Return a copy of Plotly's style sheet: the original is in the document's head and does not apply in a shadow tree.
 */
function copyPlotlySheet() {
  const sheet = new CSSStyleSheet();
  const style = /** @type {HTMLStyleElement|null} */ (document.getElementById("plotly.js-style-global"));
  sheet.replaceSync([...(style?.sheet?.cssRules ?? [])].map((rule) => rule.cssText).join("\n"));
  return sheet;
}
