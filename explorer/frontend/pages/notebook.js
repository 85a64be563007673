// A widget in a notebook cell. A shadow tree isolates its keys, wheel events and colours.

import { setDocument } from "../choice/entries.js";
import { element } from "../elements/dom.js";
import { getCurveColours } from "../explore/stage/colours.js";
import { mountInstrument } from "./notebook-instrument.js";
import { mountTraining } from "./notebook-training.js";

/**
 * The contents of a notebook cell: ``place`` is an empty element, ``model`` has the widget's traits, and ``ask`` is
 * null without a kernel.
 * @typedef {{model: *, place: HTMLElement, plotly: Promise<*>, ask: import("../asking/ask.js").Ask|null,
 *   library: Library}} Cell
 * @typedef {{css: string, skeleton: string, document: *, sections: Record<string, string>, saved: string[],
 *   languages: string[], notebook: string}} Library the data that Python packed for all cells
 */

const KINDS = { instrument: mountInstrument, training: mountTraining };
const SILENT = { message: "The kernel does not answer: it is busy, or gone.", again: true };
/** A CSS rule with which JupyterLab hides the static image of a widget while the widget is alive. */
const HIDDEN_IMAGE =
  ".jp-OutputArea-child:has(img):has(+ .jp-OutputArea-child .gradient-explorer) { display: none; }";

/**
 * Set up a notebook page once. Returns the function that mounts widgets in its cells.
 * @param {Library} library @param {Promise<*>} plotly
 */
export function begin(library, plotly) {
  setDocument(library.document);
  const sheet = makeSheet(library.css);
  document.adoptedStyleSheets.push(makeSheet(HIDDEN_IMAGE));
  const plotlySheet = plotly.then(copyPlotlySheet);

  /**
   * Mount a widget in a notebook cell. Returns a function that removes it.
   * @param {{model: *, el: HTMLElement, startTime: number, ask: ((question: string, args: *, signal: AbortSignal) =>
   *   Promise<*>)|null}} cell
   */
  function mount({ model, el, startTime, ask: askKernel }) {
    const host = element("div", { class: "gradient-explorer", "data-jp-suppress-context-menu": true });
    const root = host.attachShadow({ mode: "open" });
    const place = element("div", { class: "place" });
    root.adoptedStyleSheets = [sheet];
    void plotlySheet.then((more) => root.adoptedStyleSheets.push(more));
    root.append(place);
    root.addEventListener(
      "drawn",
      () => (host.dataset.drawn ??= String(Math.round(performance.now() - startTime))),
    );
    el.append(host);
    const end = new AbortController();
    keepInput(host, place, end.signal);

    /** @type {(...of: Parameters<import("../asking/ask.js").Ask>) => Promise<import("../asking/ask.js").Answer>} */
    async function ask(question, args, { signal } = {}) {
      const signals = signal ? [signal, end.signal] : [end.signal];
      const reply = await askKernel?.(question, args, AbortSignal.any(signals)).catch(() => null);
      return reply?.message.answer ?? SILENT;
    }

    const kernel = askKernel && Object.assign(ask, { has: () => true });
    const kind = /** @type {keyof typeof KINDS} */ (model.get("_kind"));
    const part = KINDS[kind]({ model, place, plotly, ask: kernel, library });
    followScheme(place, end.signal);
    return () => {
      end.abort();
      part.destroy();
      host.remove();
    };
  }

  return { mount };
}

/** Create a style sheet object from CSS text. @param {string} text */
function makeSheet(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

/**
 * Make native controls light or dark, as the notebook's theme is, also after the theme has changed.
 * @param {HTMLElement} place @param {AbortSignal} signal
 */
function followScheme(place, signal) {
  const root = /** @type {HTMLElement} */ (place.firstElementChild);
  const show = () => (place.style.colorScheme = getCurveColours(root).isOnDark ? "dark" : "light");
  root.addEventListener("transitionend", show, { signal }); // fired when the theme changes
  show();
}

/**
 * Stop key and wheel events in a cell from reaching the notebook.
 *
 * In notebooks a single letter may delete a cell. Keys with a modifier and Shift+Enter go to the notebook, and the
 * wheel scrolls it unless the focus is in the cell.
 * @param {HTMLElement} host @param {HTMLElement} place @param {AbortSignal} signal
 */
function keepInput(host, place, signal) {
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
}

/** Copy Plotly's style sheet into the shadow tree, where the document's own sheets do not apply. */
function copyPlotlySheet() {
  const style = /** @type {HTMLStyleElement|null} */ (document.getElementById("plotly.js-style-global"));
  return makeSheet([...(style?.sheet?.cssRules ?? [])].map((rule) => rule.cssText).join("\n"));
}
