// A Plotly chart in a place of its own: drawn anew with each picture, size and theme.

import { followTheme, themeOf } from "./chart-theme.js";
import { setAttribute } from "./dom.js";
import { fontSize, loadPlotly } from "./plot.js";
import { escaped } from "./traces.js";

const GRID = "rgba(127, 133, 143, 0.25)";
const CLEAR = "rgba(0, 0, 0, 0)";

/**
 * A chart that ``compose`` turns each picture into; ``words`` of a picture are for those who cannot see it.
 * @template {{words: string}} Picture
 * @param {HTMLElement} host of a fixed height
 * @param {{plotly: string, hover: boolean, compose: (picture: Picture) => {traces: *[], layout: *}}} options
 */
export function createPlot(host, { plotly, hover, compose }) {
  let Plotly = /** @type {*} */ (null);
  let picture = /** @type {Picture|null} */ (null);
  const place = document.createElement("div");
  const end = new AbortController();
  const resized = new ResizeObserver(redraw);
  const config = { staticPlot: !hover, displayModeBar: false, displaylogo: false, showSendToCloud: false, responsive: false, doubleClick: false };
  host.classList.add("chart-host");
  host.append(place);
  setAttribute(place, "role", "img");
  resized.observe(host);
  followTheme(host, redraw, end.signal);
  loadPlotly(plotly).then((loaded) => {
    Plotly = loaded;
    redraw();
  }, (error) => host.replaceChildren(error.message));

  function redraw() {
    if (picture) draw(picture);
  }

  /** @param {Picture} next */
  function draw(next) {
    picture = next;
    setAttribute(place, "aria-label", next.words);
    if (!Plotly || !host.clientWidth || end.signal.aborted) return;
    const { traces, layout } = compose(next);
    Plotly.react(place, traces, { ...common(host, layout), ...layout, ...axesOf(layout) }, config);
  }

  return {
    draw,
    destroy() {
      end.abort();
      resized.disconnect();
      if (Plotly) Plotly.purge(place);
      host.replaceChildren();
    },
  };
}

/** @param {HTMLElement} host @param {*} layout */
function common(host, layout) {
  const { text: color, font: family, ground, type } = themeOf(host);
  const size = fontSize(host.clientWidth, type);
  return {
    width: host.clientWidth,
    height: host.clientHeight,
    showlegend: false,
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    font: { color, family, size },
    margin: { l: 4.8 * size, r: 12, t: layout.showlegend ? 2.4 * size : 8, b: 3.1 * size, pad: 0 },
    hoverlabel: { bgcolor: ground, font: { color } },
  };
}

/** Axes with what all have in common. @param {*} layout @returns {*} */
function axesOf(layout) {
  const named = Object.entries(layout).filter(([name]) => /^[xy]axis/.test(name));
  return Object.fromEntries(named.map(([name, axis]) => [name, { gridcolor: GRID, zerolinecolor: GRID, fixedrange: true, automargin: false, .../** @type {*} */ (axis) }]));
}

/** A line of text in the middle of a chart. @param {string} text */
export function centred(text) {
  return { text: escaped(text), xref: "paper", yref: "paper", x: 0.5, y: 0.5, showarrow: false };
}
