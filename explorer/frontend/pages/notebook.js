// A widget in a notebook cell. A shadow tree isolates its keys and colours from the notebook.

import { setDocument } from "../choice/entries.js";
import { element } from "../elements/dom.js";
import { getCurveColours } from "../explore/stage/colours.js";
import { mountInstrument } from "./notebook-instrument.js";
import { mountTraining } from "./notebook-training.js";

/**
 * The parts of a widget in a cell. ``model``: the widget; ``place``: an empty element; ``ask``: asks the kernel, null
 * if there is none.
 * @typedef {{model: *, place: HTMLElement, plotly: Promise<*>, ask: import("../asking/ask.js").Ask|null, library:
 *   Library}} Cell
 * @typedef {{css: string, skeleton: string, document: *, sections: Record<string, string>, savedSections:
 *   Record<string, string>, languages: string[], notebook: string}} Library data that all cells of a notebook share,
 *   packed by Python
 */

const KINDS = { instrument: mountInstrument, training: mountTraining };
const SILENT = { message: "The kernel does not answer: wait until it is idle, or restart it.", again: true };
/** A CSS rule by which JupyterLab hides the static image of a widget while the widget works. */
const HIDDEN_IMAGE =
  ".jp-OutputArea-child:has(img):has(+ .jp-OutputArea-child .gradient-explorer) { display: none; }";

/**
 * Set up the page of a notebook. Returns the function that mounts a widget in a cell.
 * @param {Library} library @param {Promise<*>} plotly
 */
export function begin(library, plotly) {
  setDocument(library.document);
  const sheet = makeSheet(library.css);
  document.adoptedStyleSheets.push(makeSheet(HIDDEN_IMAGE));
  const plotlySheet = plotly.then(copyPlotlySheet);

  /**
   * Mount a widget in a notebook cell. Returns a function that removes it.
   * @param {{model: *, el: HTMLElement, ask: ((model: *, question: string, args: *, signal?: AbortSignal) =>
   *   Promise<*>)|null}} cell
   */
  return function mount({ model, el, ask: askKernel }) {
    const host = element("div", { class: "gradient-explorer", "data-jp-suppress-context-menu": true });
    const root = host.attachShadow({ mode: "open" });
    const place = element("div", { class: "place" });
    root.adoptedStyleSheets = [sheet];
    void plotlySheet.then((more) => root.adoptedStyleSheets.push(more));
    root.append(place);
    el.append(host);
    const end = new AbortController();
    keepInput(host, end.signal);

    /** @type {(...of: Parameters<import("../asking/ask.js").Ask>) => Promise<import("../asking/ask.js").Answer>} */
    const ask = async (question, args, { signal } = {}) =>
      (await askKernel?.(model, question, args, signal))?.answer ?? SILENT;
    const kernel = askKernel && Object.assign(ask, { has: () => true });
    const kind = /** @type {keyof typeof KINDS} */ (model.get("_kind"));
    const unmount = KINDS[kind]({ model, place, plotly, ask: kernel, library });
    followScheme(place, end.signal);
    return () => {
      end.abort();
      unmount();
      host.remove();
    };
  };
}

/** @param {string} text */
function makeSheet(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

/**
 * Give native controls the light or dark scheme of the notebook's theme, and follow its changes.
 * @param {HTMLElement} place @param {AbortSignal} signal
 */
function followScheme(place, signal) {
  const root = /** @type {HTMLElement} */ (place.firstElementChild);
  const show = () => (place.style.colorScheme = getCurveColours(root).isOnDark ? "dark" : "light");
  root.addEventListener("transitionend", show, { signal }); // a CSS transition reveals a change of theme
  show();
}

/**
 * Keep keys that are pressed in a cell from the notebook, where a single letter may delete the cell. Keys with a
 * modifier and Shift+Enter pass.
 * @param {HTMLElement} host @param {AbortSignal} signal
 */
function keepInput(host, signal) {
  const isForNotebook = (/** @type {*} */ { ctrlKey, metaKey, altKey, shiftKey, key }) =>
    ctrlKey || metaKey || altKey || (shiftKey && key === "Enter");
  const suppress = (/** @type {Event} */ event) =>
    host.toggleAttribute("data-lm-suppress-shortcuts", !isForNotebook(event)); // JupyterLab reads this attribute
  host.addEventListener("keydown", suppress, { capture: true, signal });
  for (const type of ["keydown", "keypress", "keyup"])
    host.addEventListener(type, (event) => !isForNotebook(event) && event.stopPropagation(), { signal });
}

/** Return a copy of Plotly's style sheet for the shadow tree, which the document's sheets do not affect. */
function copyPlotlySheet() {
  const style = /** @type {HTMLStyleElement|null} */ (document.getElementById("plotly.js-style-global"));
  return makeSheet([...(style?.sheet?.cssRules ?? [])].map((rule) => rule.cssText).join("\n"));
}
