// A Plotly figure. While data changes quickly, its lines are moved; Plotly redraws it once size, theme and data are
// stable.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { areMovable, moveTraces } from "./moves.js";
import * as layouts from "./plotly.js";
import { followTheme, readHostTheme } from "./theme.js";

const CLEARANCE = 3; // px between an axis and its labels, so that x and y labels do not touch in the corner
const LINE = /(.{1,32})(?: |$)/g; // of a text without curves: as wide as the narrowest chart on a stage
const REST_MS = 300; // pause in new data after which Plotly redraws the figure completely

/**
 * The contents of a Plotly figure. ``caption``: a text above it; ``names``: labels on the right that need ``width`` px;
 * ``isRough``: whether to draw it again at rest.
 * @template {{width: number}} Names
 * @typedef {{traces: *[], layout: *, caption?: string, names?: Names|null, isRough?: boolean}} Drawing
 */

/**
 * Create a Plotly figure that is redrawn when its data, size or theme changes. As long as data changes quickly and
 * nothing else does, existing lines and bars are moved instead. A figure out of view is not drawn.
 * @template {{words: string}} Picture @template {{width: number}} [Names=never]
 * @param {HTMLElement} host an element of fixed height
 * @param {{plotly: string|Promise<*>, hover: boolean, compose: (picture: Picture, width: number, isMoving: boolean) =>
 *   Drawing<Names>, onDrawn?: (chart: *, names: Names|null) => void}} options ``hover``: whether Plotly shows values at
 *   the pointer; ``compose``: turns data into the contents of a host of ``width`` px; ``isMoving``: whether more data
 *   may follow at once; ``words``: a description for screen readers; ``onDrawn``: called after each visible drawing
 */
export function createFigure(host, { plotly, hover, compose, onDrawn = () => undefined }) {
  let Plotly = /** @type {*} */ (null);
  let picture = /** @type {Picture|null} */ (null);
  let drawnLook = ""; // everything in Plotly's last drawing but its values; any change needs a redraw
  let values = /** @type {*[][]} */ ([]); // x and y of each trace as displayed
  let size = { width: 0, height: 0 }; // size of the host in px, once it has a layout
  let theme = /** @type {import("./theme.js").Theme|undefined} */ (undefined); // the theme of Plotly's last drawing
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
  const config = { ...layouts.CONFIG, staticPlot: !hover, doubleClick: false };
  host.classList.add("chart-host");
  host.prepend(caption, plot);
  setAttribute(plot, "role", "img");
  resized.observe(host);
  visibility.observe(host);
  followTheme(host, { drawnIn: () => theme, changed: redraw }, end.signal);
  layouts.loadPlotly(plotly).then(
    (loaded) => {
      Plotly = loaded;
      redraw();
    },
    (error) => host.replaceChildren(error.message),
  );

  function redraw(isMoving = false) {
    clearTimeout(timer);
    timer = 0;
    if (!picture || !Plotly || !size.width || end.signal.aborted) return;
    const drawing = compose(picture, size.width, isMoving);
    const { traces, layout, caption: text = "", names = null } = drawing;
    if (drawing.isRough) timer = setTimeout(redraw, REST_MS);
    drawnLook = toLook(traces, layout, names);
    values = listValues(traces);
    setText(caption, text);
    theme = readHostTheme(host);
    const common = makeCommonLayout(theme, size, names?.width ?? 0, layout);
    const margin = { ...common.margin, ...layout.margin };
    const all = { ...common, ...layout, ...getLayoutAxes(layout), margin };
    Plotly.react(plot, traces, all, config).then(() => end.signal.aborted || onDrawn(plot, names));
  }

  /**
   * Move the displayed lines and bars to new values. Returns "for good" if the figure is then complete, "for now" if a
   * redraw must follow later, and "" if an immediate redraw is needed.
   */
  function moveDrawing() {
    if (!inView || end.signal.aborted) return "for now"; // data may arrive after the figure was removed
    if (!picture || !drawnLook) return "";
    const { traces, layout, caption: text = "", names = null } = compose(picture, size.width, true);
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

  /** @param {Picture} next */
  function draw(next) {
    const first = picture === null;
    picture = next;
    setAttribute(plot, "aria-label", next.words);
    const outcome = first ? "" : moveDrawing();
    if (!outcome) redraw(!first);
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
 * Return text that is equal for traces that differ only in their values.
 * @param {*[]} traces @param {*} layout @param {{width: number}|null} names
 */
function toLook(traces, layout, names) {
  const looks = traces.map(({ x: _x, y: _y, width: _width, customdata: _data, ...look }) => look);
  return JSON.stringify([looks, layout, names?.width]);
}

/** Return x, y and width of each Plotly trace. @param {*[]} traces @returns {*[][]} */
function listValues(traces) {
  return traces.map(({ x = [], y = [], width }) => [x, y, [width]]);
}

/** Return whether two results of ``listValues`` contain identical values. @param {*[][]} some @param {*[][]} others */
function areEqual(some, others) {
  const isEqual = (/** @type {*} */ each, /** @type {*} */ other) => {
    if (each.length !== other.length) return false;
    for (let at = 0; at < each.length; at += 1) if (!Object.is(each[at], other[at])) return false;
    return true;
  };
  return (
    some.length === others.length &&
    some.every((each, trace) => each.every((values, at) => isEqual(values, others[trace][at])))
  );
}

/**
 * Return the part of Plotly's layout that all figures share.
 * @param {import("./theme.js").Theme} theme @param {{width: number, height: number}} box size of the host in px
 * @param {number} nameWidth width of the labels on the right in px
 * @param {*} layout the figure's own layout, with its y axis; the margin is narrower if the axis title is ""
 */
function makeCommonLayout(theme, box, nameWidth, { yaxis }) {
  const size = layouts.chooseFontSize(box.width, theme.type);
  return {
    ...layouts.makeBaseLayout(theme, { ...box, size }),
    margin: {
      l: (yaxis?.title?.text === "" ? 3 : 4.8) * size,
      r: Math.max(layouts.getEndMargin(size), nameWidth),
      t: Math.ceil(0.8 * size),
      b: 3.1 * size,
      pad: 0,
    },
    hoverlabel: { bgcolor: theme.ground, font: { color: theme.text } },
  };
}

/** @param {*} layout @returns {*} */
function getLayoutAxes(layout) {
  const plain = { ...layouts.AXIS, ticklabelstandoff: CLEARANCE };
  const named = Object.entries(layout).filter(([name]) => /^[xy]axis/.test(name));
  return Object.fromEntries(named.map(([name, axis]) => [name, { ...plain, .../** @type {*} */ (axis) }]));
}

/** Return a Plotly annotation with a text in the middle of a chart, in short lines. @param {string} text */
export function makeCenteredNote(text) {
  const note = layouts.makeNote(text, { x: 0.5, y: 0.5 });
  return { ...note, text: note.text.replace(LINE, "$1<br>").replace(/<br>$/, "") };
}
