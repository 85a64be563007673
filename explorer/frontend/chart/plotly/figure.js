// A Plotly figure in an element of its own: drawn anew with each size, theme and rest, moved in between.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { areMovable, moveTraces } from "./moves.js";
import { AXIS, CONFIG, endMargin, fontSize, groundOf, loadPlotly, note } from "./plotly.js";
import { followTheme, themeOf } from "./theme.js";

const CLEARANCE = 3; // px from an axis to its labels: else those of x and y touch in the corner
const REST_MS = 300; // without another picture, until Plotly draws the last one whole

/**
 * The drawing of a figure: ``caption`` stands above it, ``names`` take their ``width`` in px beside it.
 * @template {{width: number}} Names
 * @typedef {{traces: *[], layout: *, caption?: string, names?: Names|null}} Drawing
 */

/**
 * A figure that ``compose`` turns each picture into; ``words`` of a picture are for those who cannot see it.
 * While pictures follow one another, lines and bars are only moved where all else stays, and not at all where
 * nobody sees them; nothing is drawn if nothing has changed. ``onDrawn`` is called for each visible one.
 * ``width`` is that of the host in px: who asks the host itself has the page laid out for each picture.
 * @template {{words: string}} Picture
 * @template {{width: number}} [Names=never]
 * @param {HTMLElement} host of a fixed height
 * @param {{plotly: string|Promise<*>, hover: boolean, compose: (picture: Picture, width: number) => Drawing<Names>,
 *   onDrawn?: (chart: *, names: Names|null) => void}} options
 */
export function createFigure(host, { plotly, hover, compose, onDrawn = () => undefined }) {
  let Plotly = /** @type {*} */ (null);
  let picture = /** @type {Picture|null} */ (null);
  let drawn = ""; // all but the values, as Plotly has drawn it; with another size or theme it draws anew
  let values = /** @type {*[][]} */ ([]); // of the visible drawing
  let size = { width: 0, height: 0 }; // px of the host, once it is laid out
  let theme = /** @type {import("./theme.js").Theme|undefined} */ (undefined); // in which Plotly has drawn it
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

  /** Draw the last picture whole, for the first time once the host has been laid out. */
  function redraw() {
    clearTimeout(timer);
    timer = 0;
    if (!picture || !Plotly || !size.width || end.signal.aborted) return;
    const { traces, layout, caption: text = "", names = null } = compose(picture, size.width);
    drawn = looksOf(traces, layout, names);
    values = valuesOf(traces);
    setText(caption, text);
    theme = themeOf(host);
    const all = { ...common(theme, size, names?.width ?? 0, layout), ...layout, ...axesOf(layout) };
    Plotly.react(plot, traces, all, config).then(() => end.signal.aborted || onDrawn(plot, names));
  }

  /** Move the drawing to a picture that looks the same; whether that is enough, for now or for good. */
  function moved() {
    if (!inView || end.signal.aborted) return "for now"; // a late answer comes to a page that has gone
    if (!picture || !drawn) return "";
    const { traces, layout, caption: text = "", names = null } = compose(picture, size.width);
    if (drawn !== looksOf(traces, layout, names)) return "";
    const next = valuesOf(traces);
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
    const enough = first ? "" : moved();
    if (!enough) redraw();
    if (enough !== "for now") return;
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
 * How traces look, whatever their values.
 * @param {*[]} traces
 * @param {*} layout
 * @param {{width: number}|null} names
 */
function looksOf(traces, layout, names) {
  const looks = traces.map(({ x: _x, y: _y, width: _width, customdata: _data, ...look }) => look);
  return JSON.stringify([looks, layout, names?.width]);
}

/** The numbers of each trace. @param {*[]} traces @returns {*[][]} */
function valuesOf(traces) {
  return traces.map(({ x = [], y = [], width, customdata = [] }) => [
    ...x,
    ...y,
    width,
    ...Array.from(customdata).flat(),
  ]);
}

/** @param {*[][]} some @param {*[][]} others */
function areEqual(some, others) {
  const isEqual = (/** @type {*[]} */ each, /** @type {*[]} */ other) =>
    each.length === other.length && each.every((value, at) => Object.is(value, other[at]));
  return some.length === others.length && some.every((each, at) => isEqual(each, others[at]));
}

/**
 * @param {import("./theme.js").Theme} theme
 * @param {{width: number, height: number}} box px of the host
 * @param {number} beside px of what stands at the right
 * @param {*} layout an axis with an empty title needs less room
 */
function common(theme, box, beside, { yaxis }) {
  const size = fontSize(box.width, theme.type);
  return {
    ...groundOf(theme, { ...box, size }),
    margin: {
      l: (yaxis?.title?.text === "" ? 3 : 4.8) * size,
      r: Math.max(endMargin(size), beside),
      t: Math.ceil(0.8 * size),
      b: 3.1 * size,
      pad: 0,
    },
    hoverlabel: { bgcolor: theme.ground, font: { color: theme.text } },
  };
}

/** Axes with what all have in common. @param {*} layout @returns {*} */
function axesOf(layout) {
  const plain = { ...AXIS, ticklabelstandoff: CLEARANCE };
  const named = Object.entries(layout).filter(([name]) => /^[xy]axis/.test(name));
  return Object.fromEntries(named.map(([name, axis]) => [name, { ...plain, .../** @type {*} */ (axis) }]));
}

/** A line of text in the middle of a chart. @param {string} text */
export function centred(text) {
  return note(text, { x: 0.5, y: 0.5 });
}
