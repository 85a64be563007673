// Plotly, and settings that all its charts share.

const NARROW = 600;
const STAGE = 1200;
const LETTERS = 5; // there is always room for a tick label of this length at the right end
const CLEAR = "rgba(0, 0, 0, 0)";

/** Return the grey of lines and marks that belong to no rule; it is seen on light and dark. @param {number} opacity */
export const makeGrey = (opacity) => `rgba(127, 133, 143, ${opacity})`;
const GRID = makeGrey(0.25);

/** The width of a digit in a wide font, relative to the font size. */
export const DIGIT = 0.65;
/** Plotly's options: Plotly only draws, because all interaction is implemented in this package. */
export const CONFIG = {
  staticPlot: true,
  displayModeBar: false,
  displaylogo: false,
  showSendToCloud: false,
  responsive: false,
};
/** The Plotly settings of every axis. */
export const AXIS = { gridcolor: GRID, zerolinecolor: GRID, fixedrange: true, automargin: false };

let loading = /** @type {Promise<*>|null} */ (null);

/**
 * Load Plotly unless the page has already loaded it.
 * @param {string|Promise<*>} address of plotly.js, or a promise of Plotly
 */
export function loadPlotly(address) {
  if (typeof address !== "string") return address;
  const global = /** @type {*} */ (window);
  if (global.Plotly) return Promise.resolve(global.Plotly);
  loading ??= new Promise((resolve, reject) => {
    // A script element in the page's head may already be loading Plotly.
    const wanted = new URL(address, document.baseURI).href;
    const existing =
      document.readyState === "complete" ? null : [...document.scripts].find(({ src }) => src === wanted);
    const script = existing ?? document.createElement("script");
    script.onload = () => resolve(global.Plotly);
    script.onerror = () => {
      loading = null;
      script.remove();
      reject(new Error("The chart could not be loaded: reload the page to try again"));
    };
    if (existing) {
      window.addEventListener("load", () => global.Plotly || script.dispatchEvent(new Event("error")), {
        once: true,
      });
      return;
    }
    script.src = address;
    document.head.append(script);
  });
  return loading;
}

/**
 * Return the font size that suits a chart's width.
 * @param {number} width in px @param {number} smallest px of letters
 */
export function chooseFontSize(width, smallest) {
  return Math.max(width < NARROW ? 11 : width > STAGE ? 16 : 13, smallest);
}

/**
 * Return the px that half of a tick label needs beyond the right end of an axis.
 * @param {number} size @param {number} [letters]
 */
export function getEndMargin(size, letters = LETTERS) {
  return (DIGIT * size * letters) / 2 + 1;
}

/**
 * Return the part of Plotly's layout that all charts share.
 * @param {import("./theme.js").Theme} theme
 * @param {{width: number, height: number, size: number}} space in px; ``size`` is the letter height
 */
export function makeBaseLayout(theme, { width, height, size }) {
  return {
    width,
    height,
    showlegend: false,
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    font: { color: theme.text, family: theme.font, size },
  };
}

/**
 * Return a Plotly annotation with one line of text.
 * @param {string} text @param {Object<string, *>} position as shares of the panels
 */
export function makeNote(text, position) {
  return {
    text: escapeHtml(text),
    xref: "paper",
    yref: "paper",
    showarrow: false,
    borderpad: 2,
    ...position,
  };
}

/** Escape text for Plotly, which interprets some HTML in labels. @param {string} text */
export function escapeHtml(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
