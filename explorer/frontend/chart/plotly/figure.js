// A Plotly figure in a separate element: redrawn when size, theme or content settles, moved in between.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { areMovable, moveTraces } from "./moves.js";
import {
  AXIS,
  CONFIG,
  getEndMargin,
  chooseFontSize,
  makeBaseLayout,
  loadPlotly,
  makeNote,
} from "./plotly.js";
import { followTheme, themeOf } from "./theme.js";

const CLEARANCE = 3; // px from an axis to its labels, so that x and y labels do not touch in the corner
const REST_MS = 300; // without another picture, until Plotly redraws the last one completely

/**
 * The drawing of a figure: ``caption`` is above it, ``names`` take their ``width`` in px at its right.
 * @template {{width: number}} Names
 * @typedef {{traces: *[], layout: *, caption?: string, names?: Names|null}} Drawing
 */

/**
 * Create a figure that ``compose`` turns each picture into; a picture's ``words`` are for screen readers.
 *
 * While pictures follow each other, only lines and bars are moved if everything else stays the same; nothing is drawn
 * if nothing has changed or the figure is out of view. ``onDrawn`` is called for each visible picture. ``compose`` gets
 * the host's ``width`` in px, because measuring the host would lay out the page for each picture.
 * @template {{words: string}} Picture
 * @template {{width: number}} [Names=never]
 * @param {HTMLElement} host of a fixed height
 * @param {{plotly: string|Promise<*>, hover: boolean, compose: (picture: Picture, width: number) => Drawing<Names>,
 *   onDrawn?: (chart: *, names: Names|null) => void}} options
 */
export function createFigure(host, { plotly, hover, compose, onDrawn = () => undefined }) {
  let Plotly = /** @type {*} */ (null);
  let picture = /** @type {Picture|null} */ (null);
  let drawnLook = ""; // the look of Plotly's last drawing, without values; another size or theme needs a redraw
  let values = /** @type {*[][]} */ ([]); // of the visible drawing
  let size = { width: 0, height: 0 }; // px of the host, once it is laid out
  let theme = /** @type {import("./theme.js").Theme|undefined} */ (undefined); // of Plotly's last drawing
  let inView = true;
  let timer = 0;
  const plot = document.createElement("div");
  const caption = element("p", { class: "caption" });
  const end = new AbortController();
  const resized = new ResizeObserver(() => {
    size = { width: host.clientWidth, height: host.clientHeight };
    redraw();
  });
  const visibility = new IntersectionObserver((entries) => {
    inView = entries[entries.length - 1].isIntersecting;
    if (inView && timer) redraw();
  });
  const config = { ...CONFIG, staticPlot: !hover, doubleClick: false };
  host.classList.add("chart-host");
  host.prepend(caption, plot);
  setAttribute(plot, "role", "img");
  resized.observe(host);
  visibility.observe(host);
  followTheme(host, { drawnIn: () => theme, changed: redraw }, end.signal);
  loadPlotly(plotly).then(
    (loaded) => {
      Plotly = loaded;
      redraw();
    },
    (error) => host.replaceChildren(error.message),
  );

  /** Draw the last picture completely, once the host has been laid out. */
  function redraw() {
    clearTimeout(timer);
    timer = 0;
    if (!picture || !Plotly || !size.width || end.signal.aborted) return;
    const { traces, layout, caption: text = "", names = null } = compose(picture, size.width);
    drawnLook = toLook(traces, layout, names);
    values = listValues(traces);
    setText(caption, text);
    theme = themeOf(host);
    const all = { ...makeCommonLayout(theme, size, names?.width ?? 0, layout), ...layout, ...axesOf(layout) };
    Plotly.react(plot, traces, all, config).then(() => end.signal.aborted || onDrawn(plot, names));
  }

  /** Move the drawing to the picture's values if it looks the same; return for how long that suffices, or "". */
  function moveDrawing() {
    if (!inView || end.signal.aborted) return "for now"; // a late answer can reach a page that is closed
    if (!picture || !drawnLook) return "";
    const { traces, layout, caption: text = "", names = null } = compose(picture, size.width);
    if (drawnLook !== toLook(traces, layout, names)) return "";
    const next = listValues(traces);
    const isSame = areEqual(values, next);
    if (!isSame && (!areMovable(traces) || host.matches(":hover"))) return "";
    setText(caption, text);
    if (!isSame) moveTraces(plot, traces);
    values = next;
    onDrawn(plot, names);
    return isSame ? "for good" : "for now";
  }

  /** Draw a picture. @param {Picture} next */
  function draw(next) {
    const first = picture === null;
    picture = next;
    setAttribute(plot, "aria-label", next.words);
    const outcome = first ? "" : moveDrawing();
    if (!outcome) redraw();
    if (outcome !== "for now") return;
    clearTimeout(timer);
    timer = setTimeout(redraw, REST_MS);
  }

  return {
    draw,
    destroy() {
      end.abort();
      clearTimeout(timer);
      resized.disconnect();
      visibility.disconnect();
      if (Plotly) Plotly.purge(plot);
      host.replaceChildren();
    },
  };
}

/**
 * Return everything that determines how traces look, except their values, as text.
 * @param {*[]} traces
 * @param {*} layout
 * @param {{width: number}|null} names
 */
function toLook(traces, layout, names) {
  const looks = traces.map(({ x: _x, y: _y, width: _width, customdata: _data, ...look }) => look);
  return JSON.stringify([looks, layout, names?.width]);
}

/** Return the numbers of each trace. @param {*[]} traces @returns {*[][]} */
function listValues(traces) {
  return traces.map(({ x = [], y = [], width, customdata = [] }) => [
    ...x,
    ...y,
    width,
    ...Array.from(customdata).flat(),
  ]);
}

/** Return whether all values are identical. @param {*[][]} some @param {*[][]} others */
function areEqual(some, others) {
  const isEqual = (/** @type {*[]} */ each, /** @type {*[]} */ other) =>
    each.length === other.length && each.every((value, at) => Object.is(value, other[at]));
  return some.length === others.length && some.every((each, at) => isEqual(each, others[at]));
}

/**
 * Return the part of the layout that all figures share.
 * @param {import("./theme.js").Theme} theme
 * @param {{width: number, height: number}} box px of the host
 * @param {number} nameWidth px of the names on the right
 * @param {*} layout an axis with an empty title needs less room
 */
function makeCommonLayout(theme, box, nameWidth, { yaxis }) {
  const size = chooseFontSize(box.width, theme.type);
  return {
    ...makeBaseLayout(theme, { ...box, size }),
    margin: {
      l: (yaxis?.title?.text === "" ? 3 : 4.8) * size,
      r: Math.max(getEndMargin(size), nameWidth),
      t: Math.ceil(0.8 * size),
      b: 3.1 * size,
      pad: 0,
    },
    hoverlabel: { bgcolor: theme.ground, font: { color: theme.text } },
  };
}

/** Return a layout's axes with the settings that all share. @param {*} layout @returns {*} */
function axesOf(layout) {
  const plain = { ...AXIS, ticklabelstandoff: CLEARANCE };
  const named = Object.entries(layout).filter(([name]) => /^[xy]axis/.test(name));
  return Object.fromEntries(named.map(([name, axis]) => [name, { ...plain, .../** @type {*} */ (axis) }]));
}

/** Return a line of text in the middle of a chart. @param {string} text */
export function makeCenteredNote(text) {
  return makeNote(text, { x: 0.5, y: 0.5 });
}
